import { fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { RedisClient } from '@weir/patterns';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { roundTrip, startTcpProxy, type TcpProxy, type TcpProxyOptions } from '../../src/faults/tcp-proxy.js';
import { connectClient } from '../../src/redis/clients.js';
import type { ConnectedClient } from '../../src/redis/libraries/library.js';
import { type RedisServer, startRedisServer } from '../../src/redis/redis-server.js';
import { eventually } from '../support/condition.js';

/**
 * What Redis, two processes and the proxy may add to a configured delay. Compared with the fastest, because the
 * machine that runs the tests may be busy with other things.
 */
const TOLERANCE_MS = 1;

let closing: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

async function proxyTo(target: string, options: Omit<TcpProxyOptions, 'target'> = {}): Promise<TcpProxy> {
  const proxy = await startTcpProxy({ target, ...options });
  closing.push(() => proxy.close());
  return proxy;
}

describe('before a Redis', () => {
  let server: RedisServer;
  /** Past the proxy. */
  let direct: ConnectedClient;
  beforeAll(async () => {
    server = await startRedisServer();
    direct = await connectClient('node-redis', server.url, { name: 'direct' });
  });
  beforeEach(() => direct.client.send(['FLUSHALL']));
  afterAll(async () => {
    await direct.close();
    await server.stop();
  });

  async function clientThrough(proxy: TcpProxy) {
    const connected = await connectClient('node-redis', proxy.url, { name: 'proxied' });
    closing.push(() => connected.close());
    return connected.client;
  }

  it('adds the round trip it was told to, also below the millisecond, and takes it away again', async () => {
    const proxy = await proxyTo(server.url);
    const client = await clientThrough(proxy);
    for (const addedMs of [0, 0.5, 5, 0]) {
      proxy.set(roundTrip(addedMs));
      const { fastest, median } = await roundTripsMs(client, 300);
      expect(median).toBeGreaterThanOrEqual(addedMs);
      expect(fastest).toBeLessThan(addedMs + TOLERANCE_MS);
    }
  });

  it('delays a pipeline once and not command by command', async () => {
    const proxy = await proxyTo(server.url, { conditions: roundTrip(50) });
    const client = await clientThrough(proxy);
    const began = performance.now();
    const outcomes = await client.sendMany(Array.from({ length: 1_000 }, (_, n) => ['SET', `key:${n}`, 'x']));
    // One by one it would be 50 seconds.
    expect(performance.now() - began).toBeLessThan(2_000);
    expect(outcomes.every(({ state }) => state === 'ok')).toBe(true);
  });

  it('spreads the delay by the jitter, the same for the same seed, and keeps replies in order', async () => {
    const conditions = { toServer: { latencyMs: 4, jitterMs: 4 }, toClient: { latencyMs: 0 } };
    const proxy = await proxyTo(server.url, { seed: 7, conditions });
    const client = await clientThrough(proxy);
    const { fastest, median, ninetieth } = await roundTripsMs(client, 200);
    expect(fastest).toBeLessThan(0.8 + TOLERANCE_MS);
    expect(median).toBeGreaterThan(3);
    expect(ninetieth).toBeGreaterThan(6.5);
    const replies = await Promise.all(Array.from({ length: 500 }, () => client.send(['INCR', 'counter'])));
    expect(replies).toEqual(Array.from({ length: 500 }, (_, n) => n + 1));
  });

  it('loses one reply: the command was carried out, and the client cannot know', async () => {
    const proxy = await proxyTo(server.url);
    const client = await clientThrough(proxy);
    const lost = proxy.loseReply({ nth: 3, command: 'incr' });
    const outcomes = await client.sendMany([
      ['INCR', 'counter'],
      ['SET', 'other', 'value'],
      ['INCR', 'counter'],
      ['INCR', 'counter'],
      ['GET', 'other'],
    ]);
    expect(outcomes.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok', 'unknown', 'unknown']);
    expect(await lost).toEqual({ command: 'INCR' });
    expect(String(await direct.client.send(['GET', 'counter']))).toBe('3');
    expect(proxy.counters).toMatchObject({ repliesLost: 1, resets: 1 });
    // It happens once: the client comes back and gets its answers.
    await eventually('the client is connected again', async () => {
      return (await client.send(['INCR', 'counter']).catch(() => 0)) === 4;
    });
  });

  it('loses the reply of a command that blocks, when it is answered', async () => {
    const proxy = await proxyTo(server.url);
    const client = await clientThrough(proxy);
    const lost = proxy.loseReply({ command: 'BRPOP' });
    const popped = client.sendMany([['BRPOP', 'list', '30']], { deadlineMs: 31_000 });
    await eventually('the pop waits', async () =>
      /blocked_clients:1/.test(String(await direct.client.send(['INFO', 'clients']))),
    );
    await direct.client.send(['LPUSH', 'list', randomBytes(100_000)]);
    expect(await popped).toMatchObject([{ state: 'unknown' }]);
    await lost;
    expect(await direct.client.send(['LLEN', 'list'])).toBe(0);
  });

  it('takes a loss back that has not happened, also one whose command is under way', async () => {
    const proxy = await proxyTo(server.url);
    const client = await clientThrough(proxy);
    void proxy.loseReply({ command: 'INCR' });
    const blocking = await client.openConnection({ name: 'blocked' });
    void proxy.loseReply({ command: 'BRPOP' });
    const popped = blocking.send(['BRPOP', 'later', '0'], { deadlineMs: 10_000 });
    await eventually('the pop waits', async () =>
      String(await direct.client.send(['CLIENT', 'LIST'])).includes('cmd=brpop'),
    );
    proxy.disarm();
    await direct.client.send(['LPUSH', 'later', 'body']);
    expect(String(await popped)).toBe('later,body');
    expect(await client.send(['INCR', 'n'])).toBe(1);
    expect(proxy.counters.repliesLost).toBe(0);
    await blocking.close();
  });

  it('leads new connections to another server, and leaves those that are open where they are', async () => {
    const other = await startRedisServer();
    closing.push(() => other.stop());
    const proxy = await proxyTo(server.url);
    const before = await clientThrough(proxy);
    await before.send(['SET', 'where', 'first']);
    proxy.redirect(other.url);
    const after = await clientThrough(proxy);
    expect(await after.send(['GET', 'where'])).toBeNull();
    expect(String(await before.send(['GET', 'where']))).toBe('first');
  });

  it('swallows both ways for a time, and what was sent arrives when the partition heals', async () => {
    const proxy = await proxyTo(server.url);
    const client = await clientThrough(proxy);
    const partition = proxy.blackhole({ forMs: 300, ending: 'resume' });
    const incremented = client.send(['INCR', 'counter']);
    expect(await direct.client.send(['EXISTS', 'counter'])).toBe(0);
    const first = await Promise.race([partition.then(() => 'healed'), incremented.then(() => 'answered')]);
    expect(first).toBe('healed');
    expect(await incremented).toBe(1);
    expect(proxy.counters.resets).toBe(0);
  });

  it('or resets every connection when the partition ends, and nothing of it arrives', async () => {
    const proxy = await proxyTo(server.url);
    const client = await clientThrough(proxy);
    const partition = proxy.blackhole({ forMs: 100, ending: 'reset' });
    await expect(client.send(['INCR', 'counter'])).rejects.toMatchObject({ code: 'UNKNOWN_OUTCOME' });
    await partition;
    expect(await direct.client.send(['EXISTS', 'counter'])).toBe(0);
  });

  it('accepts during a partition, and answers afterwards', async () => {
    const proxy = await proxyTo(server.url);
    const partition = proxy.blackhole({ forMs: 200, ending: 'resume' });
    const socket = await rawClient(proxy);
    socket.write('PING\r\n');
    const answer = once(socket, 'data');
    const first = await Promise.race([partition.then(() => 'healed'), answer.then(() => 'answered')]);
    expect(first).toBe('healed');
    expect(String((await answer)[0])).toBe('+PONG\r\n');
  });

  it('refuses new connections and leaves open ones alone', async () => {
    const proxy = await proxyTo(server.url);
    const client = await clientThrough(proxy);
    proxy.set({ refuse: true });
    // The reset may come before the client has noticed that it was connected.
    const refused = rawClient(proxy).then((socket) => once(socket, 'data'));
    await expect(refused).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(String(await client.send(['PING']))).toBe('PONG');
    expect(proxy.counters).toMatchObject({ refused: 1, open: 1 });
    proxy.set({ refuse: false });
    await clientThrough(proxy);
  });

  it('carries many connections at once', async () => {
    const proxy = await proxyTo(server.url, { conditions: roundTrip(1) });
    const sockets = await Promise.all(Array.from({ length: 500 }, () => rawClient(proxy)));
    const answers = await Promise.all(
      sockets.map(async (socket, number) => {
        socket.write(`ECHO ${number}\r\n`);
        return String((await once(socket, 'data'))[0]);
      }),
    );
    expect(answers).toEqual(sockets.map((_, n) => `$${String(n).length}\r\n${n}\r\n`));
    expect(proxy.counters.open).toBe(500);
    const broken = sockets.map((socket) => once(socket, 'data').catch((error: unknown) => error));
    expect(proxy.resetAll()).toBe(500);
    for (const error of await Promise.all(broken)) expect(error).toMatchObject({ code: 'ECONNRESET' });
    await eventually('all connections are gone', () => proxy.counters.open === 0);
  });

  it('leaves no socket behind when it resets the connections of a process that has just died', async () => {
    const script = new URL('../support/hold-connections.mjs', import.meta.url);
    for (const conditions of [roundTrip(0), roundTrip(5), roundTrip(0), roundTrip(5)]) {
      const proxy = await proxyTo(server.url, { conditions });
      const child = fork(script, [String(proxy.port), '20']);
      await once(child, 'message');
      await eventually('all are answered', () => proxy.counters.bytesToClient === 20 * '+PONG\r\n'.length);
      child.send('end');
      await once(child, 'exit');
      proxy.resetAll();
      await eventually('all sockets are closed', () => proxy.counters.open === 0);
    }
  });

  it('resets the client when the server is gone', async () => {
    const own = await startRedisServer();
    closing.push(() => own.stop());
    const proxy = await proxyTo(own.url);
    await own.kill();
    const socket = await rawClient(proxy);
    await expect(once(socket, 'data')).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('before a server of our own', () => {
  let server: Server;
  /** The server's end of the connections, in order. */
  let accepted: Socket[];
  let target: string;
  beforeEach(async () => {
    accepted = [];
    server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('error', () => undefined);
      accepted.push(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    target = `tcp://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
    closing.push(() => {
      for (const socket of accepted) socket.destroy();
      server.close();
    });
  });

  async function pair(proxy: TcpProxy): Promise<{ client: Socket; far: Socket }> {
    const before = accepted.length;
    const client = await rawClient(proxy);
    await eventually('the server has accepted', () => accepted.length > before);
    const far = accepted.at(-1);
    if (far === undefined) throw new Error('no connection');
    return { client, far };
  }

  it.each([
    ['without delay', roundTrip(0)],
    [
      'with 4 ms and jitter',
      { toServer: { latencyMs: 2, jitterMs: 2 }, toClient: { latencyMs: 2, jitterMs: 1 } },
    ],
  ])('brings 50 MB there and back intact, %s', async (_, conditions) => {
    const proxy = await proxyTo(target, { conditions });
    const { client, far } = await pair(proxy);
    far.pipe(far);
    const sent = createHash('sha256');
    const received = createHash('sha256');
    let bytesReceived = 0;
    client.on('data', (bytes: Buffer) => {
      received.update(bytes);
      bytesReceived += bytes.length;
    });
    const block = randomBytes(1_000_003);
    for (let number = 0; number < 50; number++) {
      const bytes = Buffer.concat([Buffer.from([number]), block]);
      sent.update(bytes);
      if (!client.write(bytes)) await once(client, 'drain');
    }
    client.end();
    await once(client, 'end');
    expect(bytesReceived).toBe(50 * 1_000_004);
    expect(received.digest('hex')).toBe(sent.digest('hex'));
    expect(proxy.counters).toMatchObject({
      bytesToServer: bytesReceived,
      bytesToClient: bytesReceived,
      resets: 0,
    });
    await eventually('the connection is forgotten', () => proxy.counters.open === 0);
  });

  it('keeps half a connection open when the other half has ended', async () => {
    const proxy = await proxyTo(target, { conditions: roundTrip(2) });
    const { client, far } = await pair(proxy);
    far.resume();
    client.end('question');
    await once(far, 'end');
    far.end('answer');
    expect(String((await once(client, 'data'))[0])).toBe('answer');
    await once(client, 'close');
  });

  it('stops a sender whose receiver does not read', async () => {
    const proxy = await proxyTo(target);
    const { client, far } = await pair(proxy);
    far.pause();
    const block = Buffer.alloc(2 ** 20);
    let written = 0;
    // Far more than the kernel's buffers and the proxy's own take.
    while (written < 512 && client.writableLength < 8 * block.length) {
      client.write(block);
      written++;
      await new Promise(setImmediate);
    }
    expect(written).toBeLessThan(512);
    far.resume();
    await eventually('everything has arrived', () => far.bytesRead === written * block.length, 30_000);
  });

  it('tells each side of the loss of the other', async () => {
    const proxy = await proxyTo(target);
    const first = await pair(proxy);
    const lost = once(first.client, 'data').catch((error: unknown) => error);
    first.far.resetAndDestroy();
    expect(await lost).toMatchObject({ code: 'ECONNRESET' });
    const second = await pair(proxy);
    second.far.resume();
    second.client.resetAndDestroy();
    await eventually('the server has been told', () => second.far.destroyed);
    await eventually('both connections are forgotten', () => proxy.counters.open === 0);
  });

  it('frees its port when it is closed, with connections open', async () => {
    const proxy = await proxyTo(target);
    const { client } = await pair(proxy);
    const lost = once(client, 'data').catch((error: unknown) => error);
    await proxy.close();
    await proxy.close();
    expect(await lost).toMatchObject({ code: 'ECONNRESET' });
    await expect(rawClient(proxy)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('refuses conditions that cannot be', async () => {
    await expect(startTcpProxy({ target: 'tcp://127.0.0.1' })).rejects.toThrow('names no port');
    const proxy = await proxyTo(target, { protocol: 'opaque' });
    expect(() => proxy.set({ toClient: { latencyMs: -1 } })).toThrow('-1 ms');
    expect(() => proxy.set({ toClient: { latencyMs: 1, jitterMs: 2 } })).toThrow('jitter of 2 ms');
    expect(() => proxy.loseReply()).toThrow('opaque');
  });
});

async function rawClient(proxy: TcpProxy): Promise<Socket> {
  const socket = connect({ port: proxy.port, host: '127.0.0.1', allowHalfOpen: true });
  closing.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Quantiles of the round trip of PING, one at a time, in milliseconds. */
async function roundTripsMs(client: RedisClient, count: number) {
  const samples: number[] = [];
  for (let index = 0; index < count; index++) {
    const sent = performance.now();
    await client.send(['PING']);
    samples.push(performance.now() - sent);
  }
  samples.sort((a, b) => a - b);
  const quantile = (share: number) => samples[Math.floor(share * count)] ?? Number.NaN;
  return { fastest: quantile(0), median: quantile(0.5), ninetieth: quantile(0.9) };
}
