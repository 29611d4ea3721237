// A weir in miniature for the tests: starts a server, tells where it is, and waits to be killed.
import { startRedisServer } from '../../dist/redis/redis-server.js';

const server = await startRedisServer({ parentFolder: process.argv[2] });
process.stdout.write(`${JSON.stringify({ pid: server.pid, folder: server.folder, url: server.url })}\n`);
