import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RedisClient } from '../../src/client/redis-client.js';
import { InvalidOptionError, PatternError } from '../../src/errors.js';
import {
  BatchError,
  type Consumer,
  type ConsumerOptions,
  DependencyUnavailableError,
  type Message,
  type ProducerOptions,
} from '../../src/messaging/pattern.js';
import { Collector, numbered, range } from '../support/collector.js';
import { TestRedis } from '../support/redis.js';
import { loadPatterns, messagingClientNames, type OpenClient, openClient } from '../support/variants.js';
import { waitFor } from '../support/wait-for.js';

/**
 * What every pattern promises, over every pattern file and every client adapter, on a real server. Differences
 * are asked of `capabilities`, never of the name, so a new file is tested by lying there.
 */
const patterns = await loadPatterns();
let server: TestRedis;
let keys = 0;

beforeAll(async () => {
  server = await TestRedis.start();
});
afterAll(() => server.stop());

describe.each(messagingClientNames)('over %s', (clientName) => {
  let opened: OpenClient;
  let redis: RedisClient;

  beforeAll(async () => {
    opened = await openClient(clientName, server.url);
    redis = opened.redis;
  });
  afterAll(() => opened.close());

  describe.each(patterns.map((pattern) => [pattern.name, pattern] as const))('%s', (_name, pattern) => {
    const { capabilities } = pattern;
    let key: string;
    let running: Consumer[];

    beforeEach(() => {
      key = `test:${++keys}`;
      running = [];
    });
    afterEach(async () => {
      await Promise.all(running.map((consumer) => consumer.stop({ deadlineMs: 0 }).catch(() => undefined)));
    });

    const producer = (options: ProducerOptions = {}) => pattern.createProducer(redis, { key, ...options });
    const consumer = (options: ConsumerOptions = {}) => {
      const created = pattern.createConsumer(redis, { key, blockMs: 200, ...options });
      running.push(created);
      return created;
    };

    it('hands over the bytes that were sent', async () => {
      const bodies = [
        Buffer.alloc(0),
        Buffer.of(0xff, 0x00),
        Buffer.from('\u{1F30A} weir'),
        Buffer.from('line\nline\n'),
        Buffer.alloc(8 * 1024 * 1024, 0xa7),
        Buffer.alloc(100_000, 'a'),
        new Uint8Array([1, 2, 3]),
      ];
      const collector = new Collector();
      await consumer().start(collector.handler());
      await producer().send([...bodies, 'text \u{1F600}', '']);
      await collector.waitFor(bodies.length + 2);
      const expected = [
        ...bodies.map((body) => Buffer.from(body)),
        Buffer.from('text \u{1F600}'),
        Buffer.alloc(0),
      ];
      const equal = expected.map((body, index) => collector.seen[index]?.body.equals(body));
      expect(equal).toEqual(expected.map(() => true));
    });

    it('names each message: producer, sequence, id, first attempt', async () => {
      const collector = new Collector();
      await consumer().start(collector.handler());
      const sender = producer({ producerId: 'sender' });
      expect(await sender.send(['a', 'b'])).toMatchObject({ firstSequence: 0, count: 2 });
      expect(await sender.send(['c'])).toMatchObject({ firstSequence: 2, count: 1 });
      await collector.waitFor(3);
      const named = collector.seen.map(({ body: _body, ...rest }) => rest);
      expect(named).toEqual(
        range(3).map((sequence) => ({
          id: `sender-${sequence}`,
          producer: 'sender',
          sequence,
          attempt: 1,
          foreign: false,
        })),
      );
    });

    it('keeps the order of sending, over concurrent sends and a small window', async () => {
      const collector = new Collector();
      await consumer().start(collector.handler());
      const sender = producer({ maxInFlight: 50 });
      await Promise.all(range(30).map(() => sender.send(numbered(101))));
      await collector.waitFor(3030);
      expect(collector.sequences).toEqual(range(3030));
      expect(sender.counters()).toEqual({
        attempted: 3030,
        acknowledged: 3030,
        failed: 0,
        unknown: 0,
        inFlight: 0,
      });
    });

    it.each([1, 7, 1000])(
      'hands over at most %i messages at a time, and never two batches at once',
      async (batch) => {
        const collector = new Collector();
        const handle = collector.handler(() => new Promise((resolve) => setImmediate(resolve)));
        await consumer({ batch }).start(handle);
        const sender = producer();
        await Promise.all(range(3).map(() => sender.send(numbered(500))));
        await collector.waitFor(1500);
        expect(Math.max(...collector.batches)).toBeLessThanOrEqual(batch);
        if (batch > 1) expect(Math.max(...collector.batches)).toBeGreaterThan(1);
        expect(collector.overlapped).toBe(false);
      },
    );

    it('shares the work or gives everybody everything, as it says', async () => {
      const one = new Collector();
      const other = new Collector();
      const options = { batch: 5 };
      await consumer({ ...options, consumerName: 'one' }).start(one.handler());
      await consumer({ ...options, consumerName: 'other' }).start(other.handler());
      await producer().send(numbered(1000));
      if (capabilities.fanOut) {
        await Promise.all([one.waitFor(1000), other.waitFor(1000)]);
        expect(one.sequences).toEqual(other.sequences);
      } else {
        await waitFor(() => one.seen.length + other.seen.length >= 1000, 'all messages');
        const all = [...one.sequences, ...other.sequences].sort((a, b) => a - b);
        expect(all).toEqual(range(1000));
        expect(capabilities.competingConsumers).toBe(true);
      }
    });

    it('keeps messages while no consumer runs, or says that nobody listens', async () => {
      const receipt = await producer().send(numbered(10));
      const state = await pattern.inspect(redis, { key });
      if (!capabilities.persistence) {
        expect(receipt.receivers).toBe(0);
        expect(state).toMatchObject({ length: 0, keys: [] });
        return;
      }
      expect(state).toMatchObject({ length: 10, keys: [key], pending: 0, deadLettered: 0 });
      const collector = new Collector();
      await consumer({ from: 'beginning' }).start(collector.handler());
      await collector.waitFor(10);
      expect(collector.sequences).toEqual(range(10));
    });

    it('drains all that was sent before the stop', async () => {
      const collector = new Collector();
      const started = consumer({ batch: 50 });
      await started.start(collector.handler(() => new Promise((resolve) => setImmediate(resolve))));
      await producer().send(numbered(2000));
      const report = await started.stop({ drain: true });
      expect(report).toMatchObject({ drained: true, unfinished: 0 });
      expect(collector.sequences).toEqual(range(2000));
      expect(report.counters).toMatchObject({ received: 2000, handled: 2000, inFlight: 0, errors: 0 });
      expect(report.counters.batches).toBe(collector.batches.length);
      expect(await pattern.inspect(redis, { key })).toMatchObject({ unread: 0, pending: 0 });
    });

    it('stops at once while it waits for messages', async () => {
      const started = consumer({ blockMs: 30_000 });
      await started.start(() => undefined);
      const before = performance.now();
      const report = await started.stop();
      expect(performance.now() - before).toBeLessThan(2000);
      expect(report).toMatchObject({ drained: true, unfinished: 0 });
    });

    it('keeps the stop deadline whatever the handler does, and says what is unfinished', async () => {
      let release: () => void = () => undefined;
      const hang = new Promise<void>((resolve) => {
        release = resolve;
      });
      let called = 0;
      const started = consumer({ batch: 10 });
      await started.start(() => {
        called++;
        return hang;
      });
      await producer().send(numbered(10));
      await waitFor(() => called === 1, 'the handler to be called');
      const taken = started.counters().inFlight;
      const before = performance.now();
      const report = await started.stop({ deadlineMs: 100 });
      expect(performance.now() - before).toBeLessThan(1500);
      expect(report).toMatchObject({ drained: false, unfinished: taken });
      expect(taken).toBeGreaterThan(0);
      release();
    });

    it('can be started once, stopped once, and started again', async () => {
      const started = consumer();
      await expect(started.stop()).rejects.toMatchObject({ code: 'NOT_STARTED' });
      const collector = new Collector();
      await started.start(collector.handler());
      await expect(started.start(() => undefined)).rejects.toMatchObject({ code: 'ALREADY_STARTED' });
      await started.stop();
      await expect(started.stop()).rejects.toMatchObject({ code: 'NOT_STARTED' });
      await started.start(collector.handler());
      await producer().send(['again']);
      await collector.waitFor(1);
    });

    it('answers a handler that throws as it says, and counts it', async () => {
      const collector = new Collector();
      const started = consumer({ batch: 20, retryDelaysMs: [5, 5, 5] });
      const isPoison = (message: Message) => message.sequence === 3;
      await started.start(
        collector.handler((messages) => {
          if (messages.some(isPoison)) throw new Error('poison');
        }),
      );
      await producer().send(numbered(10));
      await producer().send(['after']);
      const drops = capabilities.onHandlerError === 'drop';
      await waitFor(
        () => started.counters().inFlight === 0 && started.counters().received >= 11,
        'all to end',
      );
      const counters = started.counters();
      expect(counters.handled + counters.dropped + counters.deadLettered).toBe(11);
      expect(collector.sequences.filter((sequence) => sequence === 3)).toEqual([]);
      if (drops) {
        expect(counters).toMatchObject({ deadLettered: 0, retries: 0 });
        expect(counters.dropped).toBe(counters.errors);
      } else {
        expect(counters).toMatchObject({ deadLettered: 1, dropped: 0, handled: 10 });
        expect(await pattern.inspect(redis, { key })).toMatchObject({ deadLettered: 1, pending: 0 });
      }
    });

    it('fails only the messages that a BatchError names', async () => {
      const handled: number[] = [];
      const attempts: number[] = [];
      const started = consumer({ batch: 10, retryDelaysMs: [1, 1, 1] });
      await started.start((messages) => {
        const failures = new Map<number, Error>();
        messages.forEach((message, index) => {
          if (message.sequence === 4) {
            attempts.push(message.attempt);
            failures.set(index, new Error('not this one'));
          } else handled.push(message.sequence);
        });
        if (failures.size > 0) throw new BatchError(failures);
      });
      await producer().send(numbered(10));
      await waitFor(
        () => started.counters().inFlight === 0 && started.counters().received >= 10,
        'all to end',
      );
      expect(handled.sort((a, b) => a - b)).toEqual(range(10).filter((sequence) => sequence !== 4));
      const drops = capabilities.onHandlerError === 'drop';
      expect(attempts).toEqual(drops ? [1] : [1, 2, 3, 4]);
      expect(started.counters()).toMatchObject({
        handled: 9,
        errors: attempts.length,
        dropped: drops ? 1 : 0,
      });
    });

    it('holds the same messages while a dependency is unavailable, and uses up no attempt', async () => {
      const collector = new Collector();
      let refused = 0;
      const started = consumer({ batch: 5 });
      await started.start(
        collector.handler(() => {
          if (refused++ < 3) throw new DependencyUnavailableError('database is down', { retryAfterMs: 20 });
        }),
      );
      await producer().send(numbered(20));
      await collector.waitFor(20);
      expect(collector.seen.map((message) => message.attempt)).toEqual(range(20).map(() => 1));
      expect(collector.sequences).toEqual(range(20));
      await waitFor(() => started.counters().inFlight === 0, 'the last batch to end');
      expect(started.counters()).toMatchObject({ errors: 0, dropped: 0, deadLettered: 0, handled: 20 });
    });

    it('hands over what other software wrote, whole', async () => {
      const collector = new Collector();
      await consumer().start(collector.handler());
      const bodies = [Buffer.from('plain'), Buffer.of(0xff, 0), Buffer.from('weir1 forged'), Buffer.alloc(0)];
      const command = pattern.commands.send[0]?.name ?? '';
      for (const body of bodies) {
        await redis.send(command === 'XADD' ? ['XADD', key, '*', 'data', body] : [command, key, body]);
      }
      await collector.waitFor(bodies.length);
      expect(collector.seen.map((message) => message.body)).toEqual(bodies);
      for (const message of collector.seen) {
        expect(message).toMatchObject({ foreign: true, producer: '', sequence: -1 });
      }
      expect(new Set(collector.seen.map((message) => message.id)).size).toBe(bodies.length);
    });

    it('refuses a key that holds something else, names both types and leaves it alone', async () => {
      if (!capabilities.persistence) return expect((await pattern.inspect(redis, { key })).keys).toEqual([]);
      await redis.send(['SET', key, 'mine']);
      const refusal = { code: 'FOREIGN_KEY', message: expect.stringMatching(`${key} holds a string`) };
      await expect(producer().send(['x'])).rejects.toMatchObject(refusal);
      await expect(consumer().start(() => undefined)).rejects.toMatchObject(refusal);
      await expect(pattern.inspect(redis, { key })).rejects.toMatchObject(refusal);
      await expect(pattern.destroy(redis, { key })).rejects.toMatchObject(refusal);
      expect(String(await redis.send(['GET', key]))).toBe('mine');
    });

    it('removes with destroy every key it made', async () => {
      const started = consumer({ batch: 1, retryDelaysMs: [] });
      await started.start(() => {
        throw new Error('never');
      });
      await producer().send(numbered(3));
      await waitFor(() => started.counters().errors === 3, 'three failures');
      await started.stop();
      await pattern.destroy(redis, { key });
      expect(await redis.send(['KEYS', `${key}*`])).toEqual([]);
      expect(await pattern.inspect(redis, { key })).toMatchObject({ length: 0, keys: [] });
    });

    it.each<[string, ConsumerOptions]>([
      ['batch', { batch: 0 }],
      ['batch', { batch: 1001 }],
      ['batch', { batch: 1.5 }],
      ['blockMs', { blockMs: 0 }],
      ['consumerName', { consumerName: '' }],
      ['key', { key: '' }],
      ['retryDelaysMs', { retryDelaysMs: [-1] }],
      ['maxBuffered', { maxBuffered: 0 }],
    ])('refuses a consumer with a wrong %s, and says what is right', (option, options) => {
      expect(() => consumer(options)).toThrow(InvalidOptionError);
      expect(() => consumer(options)).toThrow(new RegExp(`^${option} is .*; it must be `));
    });

    it.each<[string, ProducerOptions]>([
      ['producerId', { producerId: 'with-dash' }],
      ['producerId', { producerId: '' }],
      ['maxInFlight', { maxInFlight: 0 }],
      ['maxLength', { maxLength: -1 }],
      ['maxBodyBytes', { maxBodyBytes: 0 }],
      ['deadlineMs', { deadlineMs: 0 }],
    ])('refuses a producer with a wrong %s, and says what is right', (option, options) => {
      expect(() => producer(options)).toThrow(InvalidOptionError);
      expect(() => producer(options)).toThrow(new RegExp(`^${option} is .*; it must be `));
    });

    it('refuses a body that is too large, and a send after close, and sends nothing', async () => {
      const sender = producer({ maxBodyBytes: 10 });
      const tooLarge = { code: 'BODY_TOO_LARGE', message: expect.stringMatching('11 bytes') };
      await expect(sender.send(['ok', 'x'.repeat(11)])).rejects.toMatchObject(tooLarge);
      await expect(sender.send(['\u{1F600}'.repeat(3)])).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' });
      expect(sender.counters().attempted).toBe(0);
      expect(await sender.send(['x'.repeat(10)])).toMatchObject({ firstSequence: 0 });
      await sender.close();
      await sender.close();
      await expect(sender.send(['x'])).rejects.toMatchObject({ code: 'CLOSED' });
    });

    it('refuses to send while more than maxLength messages wait', async () => {
      if (!capabilities.persistence) {
        return expect(() => producer({ maxLength: 5 })).toThrow(/maxLength is 5; it must be left out/);
      }
      const sender = producer({ maxLength: 5 });
      await sender.send(numbered(6));
      const refusal = sender.send(['one more']);
      await expect(refusal).rejects.toBeInstanceOf(PatternError);
      await expect(refusal).rejects.toMatchObject({
        code: 'LENGTH_CAP',
        message: expect.stringMatching('6 .* 5'),
      });
      expect(sender.counters()).toMatchObject({ attempted: 6, acknowledged: 6 });
    });
  });
});
