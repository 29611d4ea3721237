import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RedisClient } from '../../src/client/redis-client.js';
import type { Consumer, ConsumerOptions } from '../../src/messaging/pattern.js';
import { pubsub } from '../../src/messaging/pubsub.js';
import { streamGroup } from '../../src/messaging/stream-group.js';
import { streamXread } from '../../src/messaging/stream-xread.js';
import { Collector, numbered, range } from '../support/collector.js';
import { TestRedis } from '../support/redis.js';
import { messagingClientNames, type OpenClient, openClient } from '../support/variants.js';
import { waitFor } from '../support/wait-for.js';

/** Rules that only one pattern has: pending entries, dead letters, trimming, lost groups, bounded buffers. */
let server: TestRedis;
let keys = 0;

beforeAll(async () => {
  server = await TestRedis.start();
});
afterAll(() => server.stop());

describe.each(messagingClientNames)('over %s', (clientName) => {
  let opened: OpenClient;
  let redis: RedisClient;
  let key: string;
  let running: Consumer[];

  beforeAll(async () => {
    opened = await openClient(clientName, server.url);
    redis = opened.redis;
  });
  afterAll(() => opened.close());
  beforeEach(() => {
    key = `streams:${++keys}`;
    running = [];
  });
  afterEach(async () => {
    await Promise.all(running.map((consumer) => consumer.stop({ deadlineMs: 0 }).catch(() => undefined)));
  });

  const keep = (consumer: Consumer) => {
    running.push(consumer);
    return consumer;
  };
  const group = (options: ConsumerOptions = {}) =>
    keep(streamGroup.createConsumer(redis, { key, blockMs: 100, ...options }));
  const xread = (options: ConsumerOptions = {}) =>
    keep(streamXread.createConsumer(redis, { key, blockMs: 100, ...options }));

  describe('stream-group', () => {
    const send = (count: number) => streamGroup.createProducer(redis, { key }).send(numbered(count));

    /** A consumer that takes messages and dies with them: nothing is acknowledged. */
    const dieWith = async (count: number) => {
      const victim = group({ batch: count });
      let taken = 0;
      await victim.start((messages) => {
        taken += messages.length;
        return new Promise(() => undefined);
      });
      await send(count);
      await waitFor(() => taken > 0, 'messages to be taken');
      await victim.stop({ deadlineMs: 0 });
      return taken;
    };

    it('re-reads its own pending entries at the start, before new work', async () => {
      const taken = await dieWith(20);
      expect(await streamGroup.inspect(redis, { key })).toMatchObject({ pending: taken });
      await send(5);
      const collector = new Collector();
      const next = group({ batch: 3 });
      await next.start(collector.handler());
      await waitFor(() => collector.seen.length >= 25, 'everything');
      const ids = collector.seen.slice(0, 20).map((message) => message.sequence);
      expect(ids).toEqual(range(20));
      await next.stop({ drain: true });
      expect(await streamGroup.inspect(redis, { key })).toMatchObject({ pending: 0, unread: 0 });
    });

    it('counts attempts that ended with their process, blames no neighbour, and gives up in the end', async () => {
      const handled: [number, number][] = [];
      /** A process that dies over message 2; what it has not acknowledged stays pending. */
      const live = async () => {
        const process = group({ batch: 5, retryDelaysMs: [1, 1] });
        let died = false;
        await process.start((messages) => {
          if (messages.some(({ sequence }) => sequence === 2)) {
            died = true;
            return new Promise(() => undefined);
          }
          handled.push(...messages.map(({ sequence, attempt }): [number, number] => [sequence, attempt]));
        });
        const ended = () => died || process.counters().deadLettered === 1;
        await waitFor(ended, 'death or giving up');
        const report = await process.stop({ deadlineMs: died ? 0 : 5000, drain: !died });
        return report.counters;
      };
      await group().start(() => undefined);
      await Promise.all(running.splice(0).map((creator) => creator.stop()));
      await send(5);
      for (let lives = 1; lives <= 3; lives++) {
        expect((await live()).deadLettered).toBe(0);
      }
      expect(await live()).toMatchObject({ deadLettered: 1 });
      expect(handled).toEqual([0, 1, 3, 4].map((sequence) => [sequence, 3]));
      expect(await streamGroup.inspect(redis, { key })).toMatchObject({ pending: 0, deadLettered: 1 });
      const keys = await redis.send(['EXISTS', `${key}:attempts:weir`]);
      expect(keys).toBe(0);
    });

    it('leaves what another consumer has pending alone', async () => {
      const taken = await dieWith(4);
      const collector = new Collector();
      const other = group({ consumerName: 'other' });
      await other.start(collector.handler());
      await other.stop({ drain: true });
      expect(collector.seen).toEqual([]);
      expect(await streamGroup.inspect(redis, { key })).toMatchObject({ pending: taken });
    });

    it('dead-letters content, id, reason and attempts', async () => {
      const started = group({ retryDelaysMs: [1, 1] });
      await started.start(() => {
        throw new Error('cannot be read');
      });
      await redis.send(['XADD', key, '7-7', 'm', Buffer.of(0xff, 0)]);
      await waitFor(() => started.counters().deadLettered === 1, 'the dead letter');
      const [letter] = entries(await redis.send(['XRANGE', `${key}:dead`, '-', '+']));
      const text = (letter ?? []).map((field) => field.toString('latin1'));
      expect(text).toEqual(['id', '7-7', 'reason', 'cannot be read', 'attempts', '3', 'm', '\xff\0']);
      expect(started.counters()).toMatchObject({ errors: 3, retries: 2, handled: 0 });
    });

    it('tries a failing dead-letter move again, and does not acknowledge before it succeeds', async () => {
      const errors: Error[] = [];
      const started = group({ retryDelaysMs: [], onError: (error) => errors.push(error) });
      await started.start(() => {
        throw new Error('poison');
      });
      await redis.send(['SET', `${key}:dead`, 'in the way']);
      await send(1);
      await waitFor(() => errors.some((error) => error.message.includes('WRONGTYPE')), 'the move to fail');
      expect(started.counters()).toMatchObject({ deadLettered: 0, inFlight: 1 });
      await redis.send(['DEL', `${key}:dead`]);
      await waitFor(() => started.counters().deadLettered === 1, 'the move to succeed');
      expect(await streamGroup.inspect(redis, { key })).toMatchObject({ pending: 0, deadLettered: 1 });
    });

    it('retries one message without holding up the others', async () => {
      const collector = new Collector();
      const started = group({ batch: 1, retryDelaysMs: [600_000] });
      await started.start(
        collector.handler(([message]) => {
          if (message?.sequence === 0) throw new Error('not yet');
        }),
      );
      await send(50);
      await collector.waitFor(49);
      expect(collector.sequences).toEqual(range(49, 1));
      await waitFor(() => started.counters().inFlight === 1, 'only the failed one to be held');
    });

    it('counts and acknowledges pending entries that were trimmed away', async () => {
      const taken = await dieWith(6);
      await redis.send(['XTRIM', key, 'MAXLEN', '0']);
      const started = group();
      await started.start(() => undefined);
      await waitFor(() => started.counters().trimmed === taken, 'the trimmed entries');
      await started.stop({ drain: true });
      expect(await streamGroup.inspect(redis, { key })).toMatchObject({ pending: 0 });
    });

    it('creates a destroyed group again and reads what remains, without a hot loop', async () => {
      const collector = new Collector();
      const errors: Error[] = [];
      const started = group({ blockMs: 20, onError: (error) => errors.push(error) });
      await started.start(collector.handler());
      await redis.send(['XGROUP', 'DESTROY', key, 'weir']);
      await send(10);
      await collector.waitFor(10);
      expect(errors.length).toBeLessThan(10);
    });

    it('begins after what is there, or with it, as asked; an existing group keeps its place', async () => {
      await send(3);
      const collector = new Collector();
      const started = group();
      await started.start(collector.handler());
      await started.stop({ drain: true });
      expect(collector.seen).toEqual([]);
      const all = new Collector();
      const fromStart = group({ group: 'another', from: 'beginning' });
      await fromStart.start(all.handler());
      await all.waitFor(3);
    });

    it('counts the backlog of the slowest group against maxLength, not what was handled', async () => {
      const started = group();
      await started.start(() => undefined);
      const capped = streamGroup.createProducer(redis, { key, maxLength: 10 });
      for (let round = 0; round < 5; round++) {
        await capped.send(numbered(8));
        await waitFor(async () => {
          const { pending, unread } = await streamGroup.inspect(redis, { key });
          return pending + unread === 0;
        }, 'the backlog to be handled');
      }
      expect(capped.counters().acknowledged).toBe(40);
    });
  });

  describe('stream-xread', () => {
    const send = (count: number) => streamXread.createProducer(redis, { key }).send(numbered(count));

    it('keeps the order while one message is retried in place', async () => {
      const collector = new Collector();
      const started = xread({ batch: 10, retryDelaysMs: [1, 1, 1] });
      await started.start((messages, context) => {
        for (const message of messages) {
          if (message.sequence === 5 && message.attempt < 4) throw new Error('not yet');
        }
        return collector.handler()(messages, context);
      });
      await send(30);
      await collector.waitFor(30);
      expect(collector.sequences).toEqual(range(30));
    });

    it('moves on from a poison message only when it is in the dead letters', async () => {
      const collector = new Collector();
      const started = xread({ batch: 1, retryDelaysMs: [1] });
      await started.start(
        collector.handler(([message]) => {
          if (message?.sequence === 0) throw new Error('poison');
        }),
      );
      await redis.send(['SET', `${key}:dead`, 'in the way']);
      await send(2);
      await waitFor(() => started.counters().errors === 2, 'both attempts');
      expect(collector.seen).toEqual([]);
      await redis.send(['DEL', `${key}:dead`]);
      await collector.waitFor(1);
      expect(started.counters()).toMatchObject({ deadLettered: 1, handled: 1 });
    });

    it('counts entries that were trimmed before it came to them', async () => {
      const collector = new Collector();
      let release: () => void = () => undefined;
      const blocked = new Promise<void>((resolve) => {
        release = resolve;
      });
      const started = xread({ batch: 10 });
      await started.start(collector.handler(() => blocked));
      await send(10);
      await waitFor(() => started.counters().received > 0, 'the first batch');
      const { received } = started.counters();
      await send(100);
      await redis.send(['XTRIM', key, 'MAXLEN', '20']);
      release();
      const report = await started.stop({ drain: true });
      expect(report.counters).toMatchObject({ trimmed: 110 - received - 20, handled: received + 20 });
    });

    it('reads on after the server lost the stream it had an offset in', async () => {
      const collector = new Collector();
      const started = xread();
      await started.start(collector.handler());
      await redis.send(['XADD', key, '9999999999999-0', 'm', 'from a clock that runs ahead']);
      await collector.waitFor(1);
      await redis.send(['DEL', key]);
      await send(5);
      await collector.waitFor(6);
      expect(started.counters()).toMatchObject({ rewinds: 1, handled: 6 });
    });
  });

  describe('pubsub', () => {
    it('drops and counts what does not fit into its buffer', async () => {
      let release: () => void = () => undefined;
      const blocked = new Promise<void>((resolve) => {
        release = resolve;
      });
      const collector = new Collector();
      const started = keep(pubsub.createConsumer(redis, { key, batch: 10, maxBuffered: 50 }));
      await started.start(collector.handler(() => blocked));
      const sender = pubsub.createProducer(redis, { key });
      const receipt = await sender.send(numbered(500));
      expect(receipt.receivers).toBe(500);
      await waitFor(() => started.counters().received === 500, 'all to arrive');
      const { dropped, inFlight } = started.counters();
      expect(dropped + inFlight).toBe(500);
      expect(inFlight).toBeLessThanOrEqual(60);
      release();
      const report = await started.stop({ drain: true });
      expect(report.counters.handled).toBe(inFlight);
      expect(collector.sequences).toHaveLength(inFlight);
      expect(collector.sequences).toEqual(collector.sequences.toSorted((a, b) => a - b));
    });
  });
});

/** Fields of the entries that XRANGE answers. */
function entries(reply: unknown): Buffer[][] {
  if (!Array.isArray(reply)) return [];
  return reply.map((entry) => (Array.isArray(entry) && Array.isArray(entry[1]) ? entry[1] : []));
}
