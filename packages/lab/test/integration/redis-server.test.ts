import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openRedisTarget } from '../../src/redis/connect.js';
import { type RedisServer, type RedisServerOptions, startRedisServer } from '../../src/redis/redis-server.js';
import { eventually, isRunning } from '../support/condition.js';

let parentFolder: string;
const running: RedisServer[] = [];

beforeAll(async () => {
  parentFolder = await mkdtemp(join(tmpdir(), 'weir-test-'));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});
afterAll(async () => {
  expect(await readdir(parentFolder), 'folders left behind').toEqual([]);
  await rm(parentFolder, { recursive: true });
});

async function start(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = await startRedisServer({ parentFolder, ...options });
  running.push(server);
  return server;
}

const singleUse = (url: string) => createClient({ url, socket: { reconnectStrategy: false } });

async function withClient<T>(
  url: string,
  use: (client: ReturnType<typeof singleUse>) => Promise<T>,
): Promise<T> {
  const client = singleUse(url);
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await use(client);
  } finally {
    client.destroy();
  }
}

describe('a server that weir starts', () => {
  it('answers when start resolves, persists nothing, and is gone with its folder after stop', async () => {
    const server = await start();
    await withClient(server.url, async (client) => {
      expect(await client.ping()).toBe('PONG');
      expect(await client.configGet(['save', 'appendonly', 'bind'])).toMatchObject({
        save: '',
        appendonly: 'no',
        bind: '127.0.0.1',
      });
    });
    await server.stop();
    await server.stop();
    expect(await isRunning(server.pid)).toBe(false);
    await expect(stat(server.folder)).rejects.toThrow('ENOENT');
    expect(await server.exited).toEqual({ code: 0, signal: null });
  });

  it('takes lines of redis.conf, multi-word ones and a password included', async () => {
    const server = await start({
      config: {
        requirepass: 'p@ss-word:%',
        'client-output-buffer-limit': 'pubsub 1mb 0 0',
        maxmemory: '64mb',
      },
    });
    await withClient(server.url, async (client) => {
      expect(await client.configGet('maxmemory')).toMatchObject({ maxmemory: String(64 * 2 ** 20) });
      const limits = await client.configGet('client-output-buffer-limit');
      expect(limits['client-output-buffer-limit']).toContain('pubsub 1048576 0 0');
    });
  });

  it('keeps what the append-only file holds over kill and restart, on the same port', async () => {
    const server = await start({ config: { appendonly: 'yes', appendfsync: 'always' } });
    await withClient(server.url, (client) => client.set('kept', 'yes'));
    const before = server.pid;
    const port = server.port;
    expect(await server.kill()).toEqual({ code: null, signal: 'SIGKILL' });
    await server.restart();
    expect(server.pid).not.toBe(before);
    expect(server.port).toBe(port);
    expect(await withClient(server.url, (client) => client.get('kept'))).toBe('yes');
    await server.restart();
    expect(await withClient(server.url, (client) => client.get('kept'))).toBe('yes');
  });

  it('starts eight at a time without two meeting on a port', async () => {
    const starts = await Promise.allSettled(Array.from({ length: 8 }, () => start()));
    expect(starts.map(({ status }) => status)).toEqual(starts.map(() => 'fulfilled'));
    expect(new Set(running.map(({ port }) => port)).size).toBe(8);
  });

  it('is killed and its folder removed when weir itself is killed with SIGKILL', async () => {
    const script = fileURLToPath(new URL('../support/hold-redis-server.mjs', import.meta.url));
    const weir = spawn(process.execPath, [script, parentFolder], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(createInterface({ input: weir.stdout }), 'line');
    const held: { pid: number; folder: string } = JSON.parse(line);
    expect(await isRunning(held.pid)).toBe(true);
    weir.kill('SIGKILL');
    await eventually('the server ends', async () => !(await isRunning(held.pid)));
    await eventually('the folder vanishes', () => !existsSync(held.folder));
  });

  it('outlives Ctrl-C in the terminal, so that weir can end in order', async () => {
    const server = await start();
    const status = await readFile(`/proc/${server.pid}/stat`, 'utf8');
    const [, , group, session] = status.slice(status.lastIndexOf(')') + 2).split(' ');
    expect([group, session]).toEqual([String(server.pid), String(server.pid)]);
  });

  it('tells when it died by itself', async () => {
    const server = await start();
    process.kill(server.pid, 'SIGKILL');
    expect(await server.exited).toEqual({ code: null, signal: 'SIGKILL' });
  });
});

describe('a server that cannot be started', () => {
  it('names the missing program and the command that installs one', async () => {
    await expect(start({ serverPath: '/nowhere/redis-server' })).rejects.toMatchObject({
      code: 'REDIS_MISSING',
      exitCode: 69,
      message: expect.stringContaining('/nowhere/redis-server'),
    });
    const path = process.env.PATH;
    process.env.PATH = parentFolder;
    try {
      await expect(start()).rejects.toMatchObject({
        code: 'REDIS_MISSING',
        remedy: expect.stringContaining('install'),
      });
    } finally {
      process.env.PATH = path;
    }
  });

  it('gives the last line the program wrote', async () => {
    await expect(start({ config: { maxmemory: 'much' } })).rejects.toMatchObject({
      code: 'REDIS_GONE',
      message: expect.stringContaining('memory value'),
    });
  });

  it('does not take another server on its port for its own', async () => {
    const first = await start();
    await expect(start({ port: first.port })).rejects.toMatchObject({
      code: 'REDIS_GONE',
      message: expect.stringMatching(/in use|listening/i),
    });
    expect(await withClient(first.url, (client) => client.ping())).toBe('PONG');
  });

  it('tells what the kernel says of a file that is no program', async () => {
    const broken = join(parentFolder, 'broken-server');
    await writeFile(broken, Buffer.from([0x7f, 0x45, 0x4c, 0x46]));
    await chmod(broken, 0o755);
    try {
      await expect(start({ serverPath: broken })).rejects.toMatchObject({ code: 'REDIS_GONE' });
    } finally {
      await rm(broken);
    }
  });

  it('gives up on a program that never answers, and kills it', async () => {
    const silent = join(parentFolder, 'silent-server');
    await writeFile(silent, '#!/bin/sh\nexec sleep 600\n');
    await chmod(silent, 0o755);
    try {
      await expect(start({ serverPath: silent, startDeadlineMs: 300 })).rejects.toMatchObject({
        code: 'REDIS_GONE',
        message: expect.stringContaining('300 ms'),
      });
    } finally {
      await rm(silent);
    }
  });

  it('says so when no folder can be made', async () => {
    await expect(start({ parentFolder: '/nowhere/at/all' })).rejects.toMatchObject({
      code: 'CANNOT_WRITE',
      exitCode: 73,
    });
  });
});

describe('the Redis of a run', () => {
  it('is one of our own without a URL, gone after close', async () => {
    const target = await openRedisTarget({ parentFolder });
    expect(target.managed).toBe(true);
    expect(await withClient(target.url, (client) => client.ping())).toBe('PONG');
    await target.close();
    await expect(withClient(target.url, (client) => client.ping())).rejects.toThrow();
  });

  it('is the one of the URL, left running after close, its password never shown', async () => {
    const server = await start({ config: { requirepass: 'secret' } });
    const target = await openRedisTarget({ url: server.url });
    expect(target).toMatchObject({
      managed: false,
      url: server.url,
      address: `redis://127.0.0.1:${server.port}`,
    });
    await target.close();
    expect(await withClient(server.url, (client) => client.ping())).toBe('PONG');
  });

  it('refuses a URL and a program at once, and a URL that is none', async () => {
    await expect(
      openRedisTarget({ url: 'redis://127.0.0.1', serverPath: '/bin/true' }),
    ).rejects.toMatchObject({
      code: 'USAGE',
      exitCode: 64,
    });
    await expect(openRedisTarget({ url: 'http://user:secret@localhost' })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.not.stringContaining('secret'),
    });
  });

  it('says within seconds that nothing listens, with the address and without the password', async () => {
    const begun = performance.now();
    await expect(openRedisTarget({ url: 'redis://user:secret@127.0.0.1:1' })).rejects.toMatchObject({
      code: 'REDIS_UNREACHABLE',
      exitCode: 69,
      message: expect.stringMatching(/^(?!.*secret).*redis:\/\/127\.0\.0\.1:1/),
    });
    expect(performance.now() - begun).toBeLessThan(3_000);
  });

  it('gives up on a listener that accepts and never answers', async () => {
    const deaf = createServer().listen(0, '127.0.0.1');
    await once(deaf, 'listening');
    const address = deaf.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    try {
      await expect(
        openRedisTarget({ url: `redis://127.0.0.1:${port}`, connectDeadlineMs: 300 }),
      ).rejects.toMatchObject({ code: 'REDIS_UNREACHABLE', message: expect.stringContaining('300 ms') });
    } finally {
      deaf.close();
    }
  });

  it('tells a wrong password from a missing server', async () => {
    const server = await start({ config: { requirepass: 'secret' } });
    for (const credentials of ['', ':wrong@']) {
      await expect(
        openRedisTarget({ url: `redis://${credentials}127.0.0.1:${server.port}` }),
      ).rejects.toMatchObject({
        code: 'REDIS_UNREACHABLE',
        message: expect.stringMatching(/refuses.*(NOAUTH|WRONGPASS)/),
      });
    }
  });
});
