import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RedisClient } from '../../src/client/redis-client.js';
import {
  type Consumer,
  type ConsumerOptions,
  DependencyUnavailableError,
} from '../../src/messaging/pattern.js';
import { shardedPubsub } from '../../src/messaging/sharded-pubsub.js';
import { Collector, numbered, range } from '../support/collector.js';
import { Gate } from '../support/gate.js';
import { TestRedis } from '../support/redis.js';
import { loadPatterns, type OpenClient, openClient } from '../support/variants.js';
import { waitFor } from '../support/wait-for.js';

/** What patterns that keep nothing lose, and that they count it. */
const BUFFER_LIMIT_BYTES = 64 * 1024;
const patterns = (await loadPatterns()).filter(({ capabilities }) => !capabilities.persistence);
let server: TestRedis;
let opened: OpenClient;
let redis: RedisClient;
let key: string;
let keys = 0;
let running: Consumer[];

beforeAll(async () => {
  const limit = String(BUFFER_LIMIT_BYTES);
  server = await TestRedis.start('--client-output-buffer-limit', 'pubsub', limit, limit, '1');
  opened = await openClient('node-redis', server.url);
  redis = opened.redis;
});
afterAll(async () => {
  await opened.close();
  await server.stop();
});
beforeEach(() => {
  key = `pubsub:${++keys}`;
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((consumer) => consumer.stop({ deadlineMs: 0 }).catch(() => undefined)));
});

it('there are two of them', () => {
  expect(patterns.map(({ name }) => name)).toEqual(['pubsub', 'sharded-pubsub']);
});

describe.each(patterns.map((pattern) => [pattern.name, pattern] as const))('%s', (name, pattern) => {
  const consumer = (options: ConsumerOptions = {}, client = redis) => {
    const created = pattern.createConsumer(client, { key, blockMs: 50, ...options });
    running.push(created);
    return created;
  };
  const producer = () => pattern.createProducer(redis, { key, producerId: 'p' });
  const subscribers = async () => (await pattern.createProducer(redis, { key }).send(['probe'])).receivers;
  /** A lost connection may still be counted as a receiver, so the proof of a subscription is a message that arrives. */
  const hearsAgain = async (collector: Collector) => {
    const before = collector.seen.length;
    await waitFor(async () => {
      await subscribers().catch(() => 0);
      return collector.seen.length > before;
    }, 'a new subscription');
  };
  const subscriberId = async () => {
    const list = String(await redis.send(['CLIENT', 'LIST']));
    const line = list.split('\n').find((text) => text.includes(`name=weir:${name}:`));
    return /\bid=(\d+)/.exec(line ?? '')?.[1] ?? '';
  };

  it.each<[string, () => Promise<unknown>]>([
    ['its connection is killed', async () => redis.send(['CLIENT', 'KILL', 'ID', await subscriberId()])],
    ['the server restarts', () => server.kill().then(() => server.run())],
    [
      'the network takes everything and says nothing',
      async () => {
        server.freeze();
        await waitFor(() => running[0]?.counters().disconnects === 1, 'the silence to be noticed');
        server.thaw();
      },
    ],
  ])('counts a gap when %s, and hears what comes after it', async (_what, breakIt) => {
    const collector = new Collector();
    const started = consumer();
    await started.start(collector.handler());
    expect(await producer().send(numbered(2))).toMatchObject({ receivers: 2 });
    await collector.waitFor(2);
    await breakIt();
    await waitFor(() => started.counters().disconnects === 1, 'the gap');
    await hearsAgain(collector);
    const sender = pattern.createProducer(redis, { key, producerId: 'later' });
    await sender.send(numbered(2));
    await waitFor(
      () => collector.seen.filter(({ producer }) => producer === 'later').length === 2,
      'the rest',
    );
    expect(started.counters()).toMatchObject({ disconnects: 1, dropped: 0, errors: 0 });
  });

  it('loses what is sent after its consumer died, until another one is subscribed', async () => {
    const client = await openClient('node-redis', server.url);
    const victim = pattern.createConsumer(client.redis, { key });
    let began = false;
    await victim.start(() => {
      began = true;
      return new Promise(() => undefined);
    });
    const sender = producer();
    await sender.send(numbered(3));
    await waitFor(() => began, 'it to begin');
    await client.close();
    await waitFor(async () => (await subscribers()) === 0, 'it to be gone');
    expect(await sender.send(numbered(3))).toMatchObject({ receivers: 0 });
    const collector = new Collector();
    await consumer().start(collector.handler());
    await sender.send(numbered(3));
    await collector.waitFor(3);
    expect(collector.sequences).toEqual([6, 7, 8]);
  });

  it('is cut off by a server whose output buffer is full: detected, counted, subscribed again', async () => {
    const collector = new Collector();
    const errors: Error[] = [];
    const started = consumer({ onError: (error) => errors.push(error) });
    await started.start(collector.handler());
    // Redis counts it as received before it finds the buffer too long.
    const receipt = await producer().send([Buffer.alloc(2 * BUFFER_LIMIT_BYTES)]);
    expect(receipt.receivers).toBe(1);
    await waitFor(() => started.counters().disconnects === 1, 'the cut');
    expect(errors.length).toBeGreaterThan(0);
    await hearsAgain(collector);
    expect(collector.seen.map(({ producer }) => producer)).not.toContain('p');
    expect(started.counters()).toMatchObject({ disconnects: 1 });
  });

  it('fills a bounded buffer while the database is down, then drops the newest and counts it', async () => {
    const collector = new Collector();
    const gate = new Gate();
    let isDown = true;
    const started = consumer({ batch: 5, maxBuffered: 20 });
    await started.start(
      collector.handler(async () => {
        await gate.opened;
        if (!isDown) return;
        isDown = false;
        throw new DependencyUnavailableError('down', { retryAfterMs: 10 });
      }),
    );
    await producer().send(numbered(5));
    await waitFor(() => started.counters().received === 5, 'the first batch');
    await producer().send(numbered(50));
    await waitFor(() => started.counters().received === 55, 'all to arrive');
    const { dropped, inFlight } = started.counters();
    expect(dropped + inFlight).toBe(55);
    expect(inFlight).toBeGreaterThanOrEqual(20);
    expect(inFlight).toBeLessThanOrEqual(25);
    gate.open();
    const report = await started.stop();
    expect(report).toMatchObject({ drained: true, unfinished: 0 });
    expect(report.counters).toMatchObject({ handled: inFlight, dropped, errors: 0 });
  });

  it('finishes at the end what has arrived, and misses what comes later', async () => {
    const collector = new Collector();
    const gate = new Gate();
    const started = consumer({ batch: 2 });
    await started.start(collector.handler(() => gate.opened));
    const sender = producer();
    await sender.send(numbered(10));
    const stopping = started.stop();
    await waitFor(async () => (await subscribers()) === 0, 'the end of the subscription');
    expect(await sender.send(numbered(5))).toMatchObject({ receivers: 0 });
    gate.open();
    expect(await stopping).toMatchObject({ drained: true, unfinished: 0 });
    expect(collector.seen.filter(({ producer }) => producer === 'p').map(({ sequence }) => sequence)).toEqual(
      range(10),
    );
  });
});

describe('sharded-pubsub', () => {
  it('is refused by name where the server has no SPUBLISH, which is asked for once while it is there', async () => {
    const old = await TestRedis.start('--rename-command', 'SPUBLISH', '');
    const client = await openClient('node-redis', old.url);
    const refusal = { code: 'UNSUPPORTED_SERVER', message: expect.stringContaining('SPUBLISH') };
    const sender = shardedPubsub.createProducer(client.redis, { key });
    await expect(sender.send(['x'])).rejects.toMatchObject(refusal);
    await expect(
      shardedPubsub.createConsumer(client.redis, { key }).start(() => undefined),
    ).rejects.toMatchObject(refusal);
    expect(sender.counters().attempted).toBe(0);
    await client.close();
    await old.stop();

    const other = await openClient('node-redis', server.url);
    await redis.send(['CONFIG', 'RESETSTAT']);
    const knowing = shardedPubsub.createProducer(other.redis, { key });
    await Promise.all(range(5).map(() => knowing.send(['x'])));
    await shardedPubsub.createProducer(other.redis, { key }).send(['x']);
    const statistics = String(await redis.send(['INFO', 'commandstats']));
    expect(/cmdstat_command\|info:calls=(\d+)/.exec(statistics)?.[1]).toBe('1');
    await other.close();
  });

  it('has channels of its own: PUBLISH does not reach them', async () => {
    const collector = new Collector();
    const started = shardedPubsub.createConsumer(redis, { key });
    running.push(started);
    await started.start(collector.handler());
    expect(await redis.send(['PUBLISH', key, 'x'])).toBe(0);
    expect(await redis.send(['SPUBLISH', key, 'y'])).toBe(1);
    await collector.waitFor(1);
    expect(collector.seen.map(({ body }) => String(body))).toEqual(['y']);
  });
});
