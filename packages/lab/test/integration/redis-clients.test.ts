import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RedisFigures } from '../../src/measure/result.js';
import { clientLibraries, clientLibrary, connectClient } from '../../src/redis/clients.js';
import { difference, identity, snapshot } from '../../src/redis/info.js';
import { pingRoundTrip, readConfiguration } from '../../src/redis/inspect.js';
import { type RedisServer, startRedisServer } from '../../src/redis/redis-server.js';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedisServer();
});
afterAll(() => server.stop());

describe.each(clientLibraries)('connecting with $name', ({ name, version }) => {
  it('gives a client of the contract, named on the server', async () => {
    const connected = await connectClient(name, server.url, { name: 'weir-test' });
    expect(connected.version).toBe(version);
    expect(version).toMatch(/^\d+\.\d+\.\d+/);
    expect(connected.client.library).toBe(name);
    expect(String(await connected.client.send(['CLIENT', 'GETNAME']))).toBe('weir-test');
    await connected.close();
    await connected.close();
  });

  it('fails fast, with the address and without the password, when nothing listens', async () => {
    await expect(
      connectClient(name, 'redis://:secret@127.0.0.1:1', { name: 'weir-test' }),
    ).rejects.toMatchObject({
      code: 'REDIS_UNREACHABLE',
      message: expect.stringMatching(/^(?!.*secret).*redis:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/),
    });
  });

  it('keeps every command whole when it joins commands by itself', async () => {
    const { client, close } = await connectClient(name, server.url, { name: 'auto', autoPipelining: true });
    const replies = await Promise.all([
      client.send(['SET', 'auto:1', 'one']),
      client.send(['HSET', `auto:${name}`, 'field', 'value']),
      client.send(['GET', 'auto:1']),
      client.send(['CLIENT', 'GETNAME']),
      client.send(['LPUSH', 'auto:1', 'x']).catch((error: Error) => error.message),
    ]);
    expect(replies.map(String)).toEqual([
      ...['OK', '1', 'one', 'auto'],
      'WRONGTYPE Operation against a key holding the wrong kind of value',
    ]);
    const hash = await client.send(['HGETALL', `auto:${name}`]);
    expect(Array.isArray(hash) && hash.map(String)).toEqual(['field', 'value']);
    await close();
  });

  it('is usable again after the server came back', async () => {
    const own = await startRedisServer();
    const { client, close } = await connectClient(name, own.url, { name: 'weir-test' });
    try {
      await own.kill();
      await expect(client.send(['PING'])).rejects.toThrow();
      await own.restart();
      await expect
        .poll(() => client.send(['PING']).then(String, () => 'down'), { timeout: 10_000 })
        .toBe('PONG');
    } finally {
      await close();
      await own.stop();
    }
  });

  it('measures what the server did between two snapshots', async () => {
    const { client, close } = await connectClient(name, server.url, { name: 'weir-test' });
    const before = await snapshot(client);
    await client.sendMany(
      Array.from({ length: 100 }, (_, index) => ['SET', `info:${index}`, 'x'.repeat(1_000)]),
    );
    await client.sendMany([['LPUSH', 'info:1', 'wrong type'], ['GET']]);
    const figures: RedisFigures = difference(before, await snapshot(client));
    expect(figures.commandstats.set).toMatchObject({ calls: 100, failedCalls: 0, rejectedCalls: 0 });
    expect(figures.commandstats.lpush).toMatchObject({ calls: 1, failedCalls: 1 });
    expect(figures.commandstats.get).toMatchObject({ calls: 0, rejectedCalls: 1 });
    expect(figures.commands).toBeGreaterThanOrEqual(102);
    expect(figures.netInputBytes).toBeGreaterThan(100_000);
    expect(figures.usedMemoryBytes).toBeGreaterThan(100_000);
    expect(figures.connectionsMade).toBe(0);
    expect(figures.connections).toBeGreaterThanOrEqual(1);
    expect(figures.mainThreadCpu).toBeGreaterThan(0);
    await close();
  });

  it('knows server, configuration and round trip', async () => {
    const { client, close } = await connectClient(name, server.url, { name: 'weir-test' });
    expect(identity(await snapshot(client))).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      runId: expect.stringMatching(/^[0-9a-f]{40}$/),
      processId: server.pid,
    });
    expect(await readConfiguration(client)).toMatchObject({
      appendonly: 'no',
      save: '',
      maxmemory: '0',
      hz: '10',
    });
    const { median, p99 } = await pingRoundTrip(client, 200);
    expect(median).toBeGreaterThan(0);
    expect(p99).toBeGreaterThanOrEqual(median);
    await close();
  });

  it('leaves the configuration empty where CONFIG is forbidden', async () => {
    const locked = await startRedisServer({ config: { 'rename-command': 'CONFIG ""' } });
    const { client, close } = await connectClient(name, locked.url, { name: 'weir-test' });
    expect(await readConfiguration(client)).toEqual({});
    await close();
    await locked.stop();
  });
});

it('lists the known client libraries for one it does not know', () => {
  expect(() => clientLibrary('jedis')).toThrow(/jedis/);
  expect(clientLibrary('ioredis')).toBe('ioredis');
  expect(clientLibraries.map(({ name }) => name)).toEqual([
    'node-redis',
    'ioredis',
    'iovalkey',
    'valkey-glide',
  ]);
});
