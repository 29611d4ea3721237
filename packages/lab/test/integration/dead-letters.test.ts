import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RedisClient } from '@weir/patterns';
import { streamGroup } from '@weir/patterns/messaging/stream-group';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { connectClient } from '../../src/redis/clients.js';
import { type RedisServer, startRedisServer } from '../../src/redis/redis-server.js';
import { weir } from '../support/command-line.js';
import { eventually } from '../support/condition.js';

/** `weir dead-letters` against a real server: what is listed, sent again and removed, and the exit codes. */
let folder: string;
let server: RedisServer;
let client: RedisClient;
let close: () => Promise<void>;
let key: string;
let keys = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-dead-letters-'));
  server = await startRedisServer({ parentFolder: folder });
  ({ client, close } = await connectClient('node-redis', server.url, { name: 'test' }));
});
afterAll(async () => {
  await close();
  await server.stop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  key = `dead:${++keys}`;
});

/** Sends messages that are given up at once. @returns their ids as dead letters, oldest first */
async function giveUp(bodies: readonly (string | Buffer)[]): Promise<string[]> {
  const consumer = streamGroup.createConsumer(client, { key, retryDelaysMs: [], blockMs: 50 });
  await consumer.start(() => {
    throw new Error('cannot\nbe read');
  });
  await streamGroup.createProducer(client, { key, producerId: 'sender' }).send(bodies);
  await eventually('all are given up', () => consumer.counters().deadLettered === bodies.length);
  await consumer.stop();
  return (await streamGroup.deadLetters(client, { key }).list()).map(({ id }) => id);
}

const command = (action: string, rest = '') =>
  weir(`dead-letters ${action} --pattern stream-group --redis ${server.url} --key ${key} ${rest}`);
const unread = async () => (await streamGroup.inspect(client, { key })).unread;

it('lists them as a table and as JSON', async () => {
  const ids = await giveUp(['text', Buffer.of(0xff, 0x00)]);
  const table = await command('list');
  expect(table).toMatchObject({ code: 0, stderr: '' });
  expect(table.stdout).toContain(ids[0]);
  expect(table.stdout).toMatch(/sender-0 .* 1 +cannot be read +text/);
  expect(table.stdout).toContain('2 bytes');
  const { stdout } = await command('list', '--format json --count 5');
  expect(JSON.parse(stdout)).toMatchObject([
    { id: ids[0], messageId: 'sender-0', reason: 'cannot\nbe read', encoding: 'utf8', body: 'text' },
    { id: ids[1], messageId: 'sender-1', attempts: 1, encoding: 'base64', body: '/wA=' },
  ]);
  expect(JSON.parse((await command('list', '--format json --count 1')).stdout)).toHaveLength(1);
});

it('sends chosen ones again, then all; and says how many', async () => {
  const ids = await giveUp(['a', 'b', 'c']);
  const one = await command('replay', `--id ${ids[1]} 1-1`);
  expect(one).toEqual({
    code: 0,
    stdout: `1 of 2 dead letters of ${key} sent again, 1 not there any more\n`,
    stderr: '',
  });
  expect(await unread()).toBe(1);
  expect((await command('replay', '--all')).stdout).toBe(`2 of 2 dead letters of ${key} sent again\n`);
  expect(await unread()).toBe(3);
  expect((await command('list')).stdout).toBe(`No dead letters of ${key}.\n`);
});

it('removes for good', async () => {
  const [first] = await giveUp(['a', 'b']);
  expect((await command('remove', `--id ${first}`)).stdout).toContain('1 of 1 dead letters');
  expect((await command('remove', '--all')).stdout).toContain('1 of 1 dead letters');
  expect(await streamGroup.inspect(client, { key })).toMatchObject({ deadLettered: 0, unread: 0 });
});

it('ends with 64 at a key of other software and with 69 without a server', async () => {
  await client.send(['SET', `${key}:dead`, 'in the way']);
  const foreign = await command('list');
  expect(foreign).toMatchObject({ code: 64, stdout: '' });
  expect(foreign.stderr).toContain(`${key}:dead holds a string`);
  const gone = await weir('dead-letters list --pattern stream-group --redis redis://:s3cret@127.0.0.1:1');
  expect(gone).toMatchObject({ code: 69, stdout: '' });
  expect(gone.stderr).toContain('does not answer');
  expect(gone.stderr).not.toContain('s3cret');
});

it('explains itself', async () => {
  const { code, stdout } = await weir('dead-letters replay --help');
  expect(code).toBe(0);
  expect(stdout).toContain('--all');
});
