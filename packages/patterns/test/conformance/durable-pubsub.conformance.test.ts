import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { RedisClient } from '../../src/client/redis-client.js';
import { durablePubsub } from '../../src/messaging/durable-pubsub.js';
import type { Consumer, ConsumerOptions } from '../../src/messaging/pattern.js';
import { Collector, numbered, range } from '../support/collector.js';
import { TestRedis } from '../support/redis.js';
import { type OpenClient, openClient } from '../support/variants.js';
import { waitFor } from '../support/wait-for.js';

/** What only `durable-pubsub` does: hints wake its subscribers, and nothing depends on a hint. */
let server: TestRedis;
let opened: OpenClient;
let redis: RedisClient;
let keys = 0;
let key: string;
let running: Consumer[];

beforeAll(async () => {
  server = await TestRedis.start();
  opened = await openClient('node-redis', server.url);
  redis = opened.redis;
});
afterAll(async () => {
  await opened.close();
  await server.stop();
});
beforeEach(() => {
  key = `hints:${++keys}`;
  running = [];
});
afterEach(async () => {
  await redis.send(['ACL', 'SETUSER', 'default', 'on', '+@all', 'allchannels']);
  await Promise.all(running.map((consumer) => consumer.stop({ deadlineMs: 0 }).catch(() => undefined)));
});

/** So long that a test which waits for it fails. */
const TOO_LONG_MS = 60_000;

const subscriber = (options: ConsumerOptions = {}) => {
  const created = durablePubsub.createConsumer(redis, { key, blockMs: TOO_LONG_MS, ...options });
  running.push(created);
  return created;
};
const producer = () => durablePubsub.createProducer(redis, { key });
const calls = async (command: string) => {
  const stats = String(await redis.send(['INFO', 'commandstats']));
  return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
};
const clients = async () =>
  String(await redis.send(['CLIENT', 'LIST']))
    .trim()
    .split('\n');

it('is woken by a hint, long before its fallback', async () => {
  const collector = new Collector();
  await subscriber().start(collector.handler());
  for (const count of [1, 2, 3]) {
    await producer().send(['wake up']);
    await collector.waitFor(count);
  }
});

it('says once per write that something is there, and reads on by itself until nothing is left', async () => {
  const collector = new Collector();
  await subscriber({ batch: 10 }).start(collector.handler());
  const before = await calls('publish');
  await producer().send(numbered(500));
  await collector.waitFor(500);
  expect(collector.sequences).toEqual(range(500));
  expect(Math.max(...collector.batches)).toBe(10);
  expect((await calls('publish')) - before).toBe(1);
});

it('is only delayed by a hint that never comes', async () => {
  const collector = new Collector();
  await subscriber({ blockMs: 100 }).start(collector.handler());
  for (const count of [1, 2]) {
    await redis.send(['XADD', key, '*', 'm', 'written without a hint']);
    await collector.waitFor(count);
  }
});

it('acknowledges a send whose hint was refused', async () => {
  await redis.send(['ACL', 'SETUSER', 'default', '-publish']);
  const sender = producer();
  expect(await sender.send(numbered(3))).toEqual({ firstSequence: 0, count: 3 });
  expect(sender.counters()).toMatchObject({ acknowledged: 3, failed: 0, unknown: 0, inFlight: 0 });
  expect(await durablePubsub.inspect(redis, { key })).toMatchObject({ length: 3 });
});

it('reads on while its subscription is lost, counts the loss and subscribes again', async () => {
  const collector = new Collector();
  const started = subscriber({ blockMs: 100 });
  await started.start(collector.handler());
  await redis.send(['ACL', 'SETUSER', 'default', '-subscribe']);
  const subscription = (await clients()).find((line) => line.includes('name=weir:durable-pubsub:')) ?? '';
  await redis.send(['CLIENT', 'KILL', 'ID', /\bid=(\d+)/.exec(subscription)?.[1] ?? '']);
  await waitFor(() => started.counters().disconnects > 0, 'the loss to be counted');
  const listeners = async () => String(await redis.send(['PUBSUB', 'NUMSUB', `${key}:hint`])).split(',')[1];
  expect(await listeners()).toBe('0');
  await producer().send(numbered(10));
  await collector.waitFor(10);
  expect(collector.sequences).toEqual(range(10));
  await redis.send(['ACL', 'SETUSER', 'default', '+subscribe']);
  await waitFor(async () => (await listeners()) === '1', 'the new subscription');
});

it('blocks no connection: the topics of a process share one for their reads', async () => {
  const before = (await clients()).length;
  const collectors = range(5).map(() => new Collector());
  for (const [index, collector] of collectors.entries()) {
    await subscriber({ key: `${key}:${index}`, from: 'beginning' }).start(collector.handler());
  }
  for (const index of range(5)) {
    await durablePubsub.createProducer(redis, { key: `${key}:${index}` }).send(numbered(3));
  }
  await Promise.all(collectors.map((collector) => collector.waitFor(3)));
  expect(String(await redis.send(['INFO', 'clients']))).toContain('blocked_clients:0');
  const added = (await clients()).filter((line) => line.includes('name=weir:durable-pubsub:'));
  // What a client library adds is its subscriptions; there is no connection to read.
  expect(added.every((line) => / sub=1 /.test(line))).toBe(true);
  expect((await clients()).length - before).toBe(5);
});

it('removes the stream, the offsets and the dead letters with destroy', async () => {
  const started = subscriber({ retryDelaysMs: [] });
  await started.start(() => {
    throw new Error('never');
  });
  await producer().send(numbered(2));
  await waitFor(() => started.counters().deadLettered === 2, 'the dead letters');
  await started.stop();
  const { keys: made } = await durablePubsub.inspect(redis, { key });
  expect([...made].sort()).toEqual([key, `${key}:dead`, `${key}:offsets`]);
  await durablePubsub.destroy(redis, { key });
  expect(await redis.send(['KEYS', `${key}*`])).toEqual([]);
});
