import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RedisClient } from '../../src/client/redis-client.js';
import { SendError } from '../../src/errors.js';
import type { Consumer, ConsumerOptions, ProducerOptions } from '../../src/messaging/pattern.js';
import { Collector, numbered, range } from '../support/collector.js';
import { TestRedis } from '../support/redis.js';
import { loadPatterns, messagingClientNames, type OpenClient, openClient } from '../support/variants.js';
import { waitFor } from '../support/wait-for.js';

/** What every pattern does when connections, servers and writes fail, over every pattern and every adapter. */
const patterns = await loadPatterns();
let keys = 0;

describe.each(messagingClientNames)('over %s', (clientName) => {
  /** Writes every command to disk before it answers, so that a killed server has lost nothing it acknowledged. */
  let server: TestRedis;
  let opened: OpenClient;
  let redis: RedisClient;

  beforeAll(async () => {
    server = await TestRedis.start('--appendonly', 'yes', '--appendfsync', 'always');
    opened = await openClient(clientName, server.url);
    redis = opened.redis;
  });
  afterAll(async () => {
    await opened.close();
    await server.stop();
  });

  const isUp = () =>
    redis.send(['PING'], { deadlineMs: 1000 }).then(
      () => true,
      () => false,
    );

  describe.each(patterns.map((pattern) => [pattern.name, pattern] as const))('%s', (_name, pattern) => {
    const { capabilities } = pattern;
    let key: string;
    let running: Consumer[];

    beforeEach(() => {
      key = `faults:${++keys}`;
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
    /** The server's id of the connection that reads for the consumer. */
    const readerId = async () => {
      const list = String(await redis.send(['CLIENT', 'LIST']));
      const line = list.split('\n').find((text) => text.includes(`name=weir:${pattern.name}:`));
      return /\bid=(\d+)/.exec(line ?? '')?.[1] ?? '';
    };

    it('survives the loss of its connection between messages, and counts it', async () => {
      const collector = new Collector();
      const started = consumer();
      await started.start(collector.handler());
      const sender = producer();
      await sender.send(numbered(10));
      await collector.waitFor(10);
      await waitFor(async () => (await readerId()) !== '', 'the connection to have its name');
      const before = await readerId();
      await redis.send(['CLIENT', 'KILL', 'ID', before]);
      await waitFor(async () => !['', before].includes(await readerId()), 'a new connection');
      await waitFor(() => started.counters().disconnects === 1, 'the loss to be counted');
      // A new connection is not yet a subscription; only what follows it arrives for certain.
      await waitFor(async () => {
        if (capabilities.persistence) return true;
        return ((await sender.send(['probe'])).receivers ?? 0) > 0;
      }, 'somebody to listen');
      await sender.send(numbered(10));
      const last = sender.counters().attempted - 1;
      await waitFor(() => collector.sequences.includes(last), 'the last message');
      expect(new Set(collector.sequences).size).toBe(collector.sequences.length);
      if (capabilities.persistence) expect(collector.sequences).toEqual(range(20));
    });

    it('loses what it says and no more when its connection breaks again and again', async () => {
      const collector = new Collector();
      const started = consumer({ batch: 10 });
      await started.start(collector.handler(() => new Promise((resolve) => setImmediate(resolve))));
      const sender = producer();
      const total = 1500;
      for (let sent = 0; sent < total; sent += 50) {
        await sender.send(numbered(50));
        const id = sent % 300 === 0 ? await readerId() : '';
        if (id !== '') await redis.send(['CLIENT', 'KILL', 'ID', id]);
      }
      const report = await started.stop({ drain: true });
      expect(report.counters.disconnects).toBeGreaterThan(0);
      const distinct = new Set(collector.sequences).size;
      expect(distinct).toBe(collector.sequences.length);
      if (capabilities.delivery === 'at-least-once') expect(distinct).toBe(total);
      else expect(distinct).toBeGreaterThan(0);
      expect(report.counters).toMatchObject({ handled: distinct, inFlight: 0 });
    });

    it('goes on after the server was killed and came back', async () => {
      const collector = new Collector();
      const started = consumer();
      await started.start(collector.handler());
      const sender = producer({ deadlineMs: 500 });
      await sender.send(numbered(100));
      await collector.waitFor(100);
      await server.kill();
      await waitFor(() => started.counters().disconnects > 0, 'the loss to be noticed');
      const lost = await sender.send(['into the void']).catch((reason) => reason);
      expect(lost).toBeInstanceOf(SendError);
      await server.run();
      await waitFor(isUp, 'the shared connection to come back');
      await waitFor(async () => (await readerId()) !== '', 'the consumer to come back');
      await waitFor(async () => {
        if (capabilities.persistence) return true;
        return ((await sender.send(['probe'])).receivers ?? 0) > 0;
      }, 'somebody to listen');
      await sender.send(numbered(100));
      const { attempted } = sender.counters();
      await waitFor(() => collector.sequences.includes(attempted - 1), 'the last message');
      if (capabilities.persistence) {
        // Unknown may have happened; failed may not.
        const mayBe = lost.failures[0].state === 'unknown' && collector.sequences.includes(100);
        const expected = range(attempted).filter((sequence) => sequence !== 100 || mayBe);
        expect(new Set(collector.sequences)).toEqual(new Set(expected));
      }
    });

    it('says unknown when no answer comes, and the message may arrive all the same', async () => {
      const collector = new Collector();
      const started = consumer();
      await started.start(collector.handler());
      const sender = producer({ deadlineMs: 150 });
      server.freeze();
      try {
        const error = await sender.send(numbered(3)).then(
          () => undefined,
          (reason) => reason,
        );
        expect(error).toBeInstanceOf(SendError);
        expect(error).toMatchObject({ code: 'SEND_INCOMPLETE', acknowledged: 0 });
        expect(error.failures).toHaveLength(3);
        expect(error.failures.map((failure: { state: string }) => failure.state)).toEqual(
          range(3).map(() => 'unknown'),
        );
      } finally {
        server.thaw();
      }
      expect(sender.counters()).toMatchObject({ attempted: 3, acknowledged: 0, unknown: 3, inFlight: 0 });
      await waitFor(isUp, 'the server to answer again');
    });

    it('drops a connection on which nothing comes back, and reads on', async () => {
      const collector = new Collector();
      const started = consumer({ blockMs: 100 });
      await started.start(collector.handler());
      server.freeze();
      await waitFor(() => started.counters().disconnects > 0, 'the watchdog');
      server.thaw();
      await waitFor(isUp, 'the server to answer again');
      await waitFor(async () => (await readerId()) !== '', 'a new connection');
      const sender = producer();
      await waitFor(async () => {
        await sender.send(['probe']);
        return collector.seen.length > 0;
      }, 'a message to be handled');
      expect(started.counters().lastPollAgeMs).toBeLessThan(5000);
    });

    it('says failed when Redis refuses the write', async () => {
      // A replica refuses writes; it still carries PUBLISH, which changes nothing.
      await redis.send(['REPLICAOF', '127.0.0.1', '1']);
      try {
        const sending = producer().send(numbered(2));
        if (!capabilities.persistence) return expect(await sending).toMatchObject({ count: 2 });
        await expect(sending).rejects.toMatchObject({
          code: 'SEND_INCOMPLETE',
          acknowledged: 0,
          failures: [
            { index: 0, state: 'failed' },
            { index: 1, state: 'failed' },
          ],
          cause: { code: 'REDIS_REPLY', kind: 'READONLY' },
        });
      } finally {
        await redis.send(['REPLICAOF', 'NO', 'ONE']);
      }
    });

    it('waits, without a hot loop, while Redis is read-only, and goes on afterwards', async () => {
      const collector = new Collector();
      const errors: Error[] = [];
      const started = consumer({ blockMs: 20, onError: (error) => errors.push(error) });
      await started.start(collector.handler());
      await redis.send(['REPLICAOF', '127.0.0.1', '1']);
      const polledOften = performance.now() + 600;
      await waitFor(() => performance.now() > polledOften, 'some polls');
      await redis.send(['REPLICAOF', 'NO', 'ONE']);
      // Written so that a failure shows the errors.
      expect(errors.map(String).slice(15)).toEqual([]);
      await producer().send(numbered(5));
      await collector.waitFor(5);
    });

    it('reports the unfinished rest when the server stays away during a drain', async () => {
      const collector = new Collector();
      const started = consumer();
      await started.start(collector.handler());
      server.freeze();
      try {
        const before = performance.now();
        const report = await started.stop({ drain: true, deadlineMs: 300 });
        expect(performance.now() - before).toBeLessThan(2500);
        expect(report.unfinished).toBe(0);
        if (capabilities.persistence) expect(report.drained).toBe(false);
      } finally {
        server.thaw();
      }
      await waitFor(isUp, 'the server to answer again');
    });
  });
});
