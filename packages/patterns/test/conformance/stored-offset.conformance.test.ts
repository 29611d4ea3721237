import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RedisClient, RedisCommand } from '../../src/client/redis-client.js';
import {
  BatchError,
  type Consumer,
  type ConsumerOptions,
  DependencyUnavailableError,
  type MessageHandler,
  type OffsetSource,
  type StoredOffset,
} from '../../src/messaging/pattern.js';
import { Collector, numbered, range } from '../support/collector.js';
import { TestRedis } from '../support/redis.js';
import { loadPatterns, type OpenClient, openClient } from '../support/variants.js';
import { waitFor } from '../support/wait-for.js';

/** What a stored offset promises, over every pattern that has one. */
const patterns = (await loadPatterns()).filter(({ capabilities }) => capabilities.storedOffset);
let server: TestRedis;
let opened: OpenClient;
let redis: RedisClient;
let keys = 0;

beforeAll(async () => {
  server = await TestRedis.start();
  opened = await openClient('node-redis', server.url);
  redis = opened.redis;
});
afterAll(async () => {
  await opened.close();
  await server.stop();
});

/** Puts another stream in the place of one, in one step: KEYS[1] the stream, ARGV ids of its entries. */
const REPLACE = `redis.call('DEL', KEYS[1])
for _, id in ipairs(ARGV) do redis.call('XADD', KEYS[1], id, 'm', id) end`;

/** A store whose transactions hold effects and offset: what was committed survives the consumer. */
class Transactions implements OffsetSource {
  readonly effects: number[] = [];
  readonly positions: string[] = [];
  readers = new Set<string>();
  #offset: StoredOffset | undefined;

  async load(reader: string): Promise<string | undefined> {
    return this.#offset?.reader === reader ? this.#offset.position : undefined;
  }

  /** @param refuses whether the transaction of these messages is rolled back */
  handler(refuses: (sequences: readonly number[], attempt: number) => Error | undefined = () => undefined) {
    const handler: MessageHandler = (messages, { offset }) => {
      const sequences = messages.map(({ sequence }) => sequence);
      const refusal = refuses(sequences, messages[0]?.attempt ?? 0);
      if (refusal !== undefined) throw refusal;
      if (offset === undefined) throw new Error('no offset');
      this.effects.push(...sequences);
      this.positions.push(offset.position);
      this.readers.add(offset.reader);
      this.#offset = offset;
    };
    return handler;
  }
}

describe.each(patterns.map((pattern) => [pattern.name, pattern] as const))('%s', (_name, pattern) => {
  let key: string;
  let running: Consumer[];

  beforeEach(() => {
    key = `offsets:${++keys}`;
    running = [];
  });
  afterEach(async () => {
    await Promise.all(running.map((consumer) => consumer.stop({ deadlineMs: 0 }).catch(() => undefined)));
  });

  const consumer = (options: ConsumerOptions = {}, client = redis) => {
    const created = pattern.createConsumer(client, { key, blockMs: 50, retryDelaysMs: [1, 1], ...options });
    running.push(created);
    return created;
  };
  const send = (count: number) => pattern.createProducer(redis, { key }).send(numbered(count));
  const add = (...ids: string[]) => redis.sendMany(ids.map((id) => ['XADD', key, id, 'm', id]));
  const storedOffset = async (name = 'consumer-1') =>
    String(await redis.send(['HGET', `${key}:offsets`, name])).split(' ')[0];
  /** Starts a consumer, lets it handle what there is, and stops it. */
  const pass = async (options: ConsumerOptions = {}, handler?: MessageHandler) => {
    const collector = new Collector();
    const started = consumer(options);
    await started.start(collector.handler(handler));
    const { counters } = await started.stop({ drain: true });
    return { sequences: collector.sequences, counters, seen: collector.seen };
  };
  /** Starts a consumer that is killed over its nth batch: the handler has it and nothing more happens. */
  const dieOver = async (batch: number, options: ConsumerOptions = {}) => {
    const collector = new Collector();
    const victim = consumer(options);
    let calls = 0;
    await victim.start((messages, context) => {
      if (++calls < batch) return collector.handler()(messages, context);
      return new Promise(() => undefined);
    });
    await waitFor(() => calls === batch, `batch ${batch}`);
    await victim.stop({ deadlineMs: 0 });
    return collector.sequences;
  };

  describe('in Redis', () => {
    it('goes on where it stopped, and reads what came while it was away; `from` is for new readers', async () => {
      await send(5);
      expect((await pass()).sequences).toEqual([]);
      await send(10);
      expect((await pass({ from: 'new' })).sequences).toEqual(range(10));
      await send(3);
      expect((await pass({ from: 'beginning' })).sequences).toEqual(range(3));
      expect((await pass({ consumerName: 'other', from: 'beginning' })).sequences).toHaveLength(18);
    });

    it('misses nothing that was sent after its first start, whenever it dies', async () => {
      await consumer().start(() => undefined);
      await Promise.all(running.splice(0).map((started) => started.stop({ deadlineMs: 0 })));
      await send(3);
      expect((await pass({ from: 'new' })).sequences).toEqual(range(3));
    });

    it('repeats at most a batch after a crash', async () => {
      await send(50);
      const before = await dieOver(3, { from: 'beginning', batch: 10 });
      const { sequences } = await pass({ batch: 10 });
      expect(new Set([...before, ...sequences])).toEqual(new Set(range(50)));
      expect(before.length + sequences.length).toBeLessThanOrEqual(60);
      expect(sequences).toEqual(sequences.toSorted((a, b) => a - b));
    });

    it('stores the offset in the write of the next read, once a batch', async () => {
      const writes: string[][] = [];
      const record = (commands: readonly RedisCommand[]) => {
        writes.push(commands.map(([name]) => String(name)));
      };
      await send(30);
      await pass({ from: 'beginning', batch: 10 }).then(() => pattern.destroy(redis, { key }));
      await send(30);
      const started = consumer({ from: 'beginning', batch: 10 }, recorded(redis, record));
      const collector = new Collector();
      await started.start(collector.handler());
      await collector.waitFor(30);
      await waitFor(async () => (await storedOffset()) === (await lastId()), 'the offset');
      const reading = writes.filter((names) => names.includes('XREAD'));
      expect(reading.slice(0, 4)).toEqual([
        ['XREAD'],
        ['HSET', 'XREAD'],
        ['HSET', 'XREAD'],
        ['HSET', 'XREAD'],
      ]);
      // The one that is alone stored where the reader began.
      expect(writes.filter((names) => names.includes('HSET') && names.length === 1)).toHaveLength(1);
    });

    it('holds the offset while the database is down, and uses up no attempt', async () => {
      await send(20);
      let isDown = true;
      let refused = 0;
      const collector = new Collector();
      const started = consumer({ from: 'beginning', batch: 5 });
      await started.start(
        collector.handler(([first]) => {
          if (!isDown || first?.sequence !== 5) return;
          refused++;
          throw new DependencyUnavailableError('the database is down', { retryAfterMs: 5 });
        }),
      );
      await waitFor(() => refused > 3, 'several refusals');
      const [fifth] = entryIds(await redis.send(['XRANGE', key, '-', '+', 'COUNT', '5'])).slice(-1);
      expect(await storedOffset()).toBe(fifth);
      isDown = false;
      await collector.waitFor(20);
      expect(collector.sequences).toEqual(range(20));
      expect(started.counters()).toMatchObject({ errors: 0, retries: 0, deadLettered: 0 });
    });

    it('commits with a stop what was handled, and nothing that was not', async () => {
      await send(40);
      let release: () => void = () => undefined;
      const blocked = new Promise<void>((resolve) => {
        release = resolve;
      });
      const collector = new Collector();
      const first = consumer({ from: 'beginning', batch: 10 });
      await first.start(collector.handler(() => blocked));
      await waitFor(() => first.counters().inFlight === 10, 'the first batch');
      const stopping = first.stop();
      release();
      expect(await stopping).toMatchObject({ drained: true, unfinished: 0 });
      expect((await pass()).sequences).toEqual(range(30, 10));
      expect(await pattern.inspect(redis, { key })).toMatchObject({ unread: 0 });
    });

    it('reads on while Redis refuses to store it, says so once, and stores it afterwards', async () => {
      await send(30);
      const errors: Error[] = [];
      const collector = new Collector();
      let release: () => void = () => undefined;
      const blocked = new Promise<void>((resolve) => {
        release = resolve;
      });
      const started = consumer({ from: 'beginning', batch: 1, onError: (error) => errors.push(error) });
      await started.start(collector.handler(() => blocked));
      await redis.send(['CONFIG', 'SET', 'maxmemory', '1']);
      try {
        release();
        await collector.waitFor(30);
        await waitFor(() => errors.length > 0, 'the refusal to be told');
      } finally {
        await redis.send(['CONFIG', 'SET', 'maxmemory', '0']);
      }
      expect(errors.map(String)).toEqual([expect.stringContaining('OOM')]);
      await waitFor(async () => (await storedOffset()) === (await lastId()), 'the offset');
    });

    it('moves past a poison message when it is in the dead letters', async () => {
      await send(3);
      const { counters } = await pass({ from: 'beginning', batch: 1 }, ([message]) => {
        if (message?.sequence === 1) throw new Error('poison');
      });
      expect(counters).toMatchObject({ handled: 2, deadLettered: 1, errors: 3, retries: 2 });
      expect((await pass()).counters).toMatchObject({ received: 0 });
      expect(await pattern.inspect(redis, { key })).toMatchObject({ deadLettered: 1, unread: 0 });
    });

    it('shows the backlog of the slowest reader', async () => {
      await send(10);
      await pass({ from: 'beginning', consumerName: 'one' });
      expect(await pattern.inspect(redis, { key })).toMatchObject({ unread: 0 });
      await pass({ from: 'new', consumerName: 'other' });
      await send(4);
      await pass({ consumerName: 'one' });
      await send(3);
      expect(await pattern.inspect(redis, { key })).toMatchObject({
        unread: 7,
        keys: [key, `${key}:offsets`],
      });
    });

    it('refuses a key of offsets that holds something else, and leaves it alone', async () => {
      await redis.send(['SET', `${key}:offsets`, 'mine']);
      const refusal = { code: 'FOREIGN_KEY', message: expect.stringMatching('offsets holds a string') };
      await expect(consumer().start(() => undefined)).rejects.toMatchObject(refusal);
      await expect(pattern.destroy(redis, { key })).rejects.toMatchObject(refusal);
      expect(String(await redis.send(['GET', `${key}:offsets`]))).toBe('mine');
    });
  });

  it('in memory writes nothing to Redis, and each start begins as `from` says', async () => {
    await send(5);
    expect((await pass({ offset: 'memory', from: 'beginning' })).sequences).toEqual(range(5));
    await send(2);
    expect((await pass({ offset: 'memory', from: 'new' })).sequences).toEqual([]);
    expect((await pass({ offset: 'memory', from: 'beginning' })).sequences).toHaveLength(7);
    expect(await redis.send(['KEYS', `${key}*`])).toEqual([Buffer.from(key)]);
  });

  describe("in the handler's transaction", () => {
    it('goes on behind what was committed, and writes nothing to Redis but where it began', async () => {
      const store = new Transactions();
      await send(25);
      for (const batches of [1, 2]) {
        const started = consumer({ from: 'beginning', batch: 5, offset: store });
        let calls = 0;
        const commit = store.handler();
        await started.start((messages, context) => {
          if (++calls < batches) return commit(messages, context);
          // Dies behind the commit: what the consumer would have done next never happens.
          if (calls === batches)
            return Promise.resolve(commit(messages, context)).then(() => new Promise(() => undefined));
        });
        await waitFor(() => calls === batches, 'the commits');
        await started.stop({ deadlineMs: 0 });
      }
      expect(store.effects).toEqual(range(15));
      await pass({ batch: 5, offset: store }, store.handler());
      expect(store.effects).toEqual(range(25));
      expect([...store.readers]).toEqual([`${key}:consumer-1`]);
      expect(
        String(await redis.send(['KEYS', `${key}*`]))
          .split(',')
          .sort(),
      ).toEqual([key, `${key}:starts`]);
      await pattern.destroy(redis, { key });
      expect(await redis.send(['KEYS', `${key}*`])).toEqual([]);
    });

    it('begins where it began when it dies before its first commit', async () => {
      const store = new Transactions();
      const victim = consumer({ offset: store });
      await victim.start(() => new Promise(() => undefined));
      await send(10);
      await victim.stop({ deadlineMs: 0 });
      await send(5);
      await pass({ offset: store }, store.handler());
      expect(store.effects).toHaveLength(15);
    });

    it('hands over a failed batch one by one, each with the position behind it', async () => {
      const store = new Transactions();
      await send(10);
      const refuses = (sequences: readonly number[]) =>
        sequences.length > 1 ? new Error('rolled back') : undefined;
      await pass({ from: 'beginning', batch: 5, offset: store }, store.handler(refuses));
      expect(store.effects).toEqual(range(10));
      const ids = entryIds(await redis.send(['XRANGE', key, '-', '+']));
      expect(store.positions.map((position) => position.split(' ')[0])).toEqual(ids);
    });

    it('repeats nothing when it dies in the middle of a batch that is handed over one by one', async () => {
      const store = new Transactions();
      await send(10);
      const commit = store.handler((sequences) => (sequences.length > 1 ? new Error('no') : undefined));
      const victim = consumer({ from: 'beginning', batch: 10, offset: store });
      await victim.start((messages, context) =>
        store.effects.length < 4 ? commit(messages, context) : new Promise(() => undefined),
      );
      await waitFor(() => store.effects.length === 4, 'four of ten');
      await victim.stop({ deadlineMs: 0 });
      await pass({ batch: 10, offset: store }, store.handler());
      expect(store.effects).toEqual(range(10));
    });

    it('takes a BatchError for the failure of the whole batch: nothing of it was committed', async () => {
      const store = new Transactions();
      await send(6);
      const commit = store.handler((sequences, attempt) =>
        sequences.includes(2) && attempt < 3
          ? new BatchError(new Map([[0, new Error('this one')]]))
          : undefined,
      );
      const { counters } = await pass({ from: 'beginning', batch: 6, offset: store }, commit);
      expect(store.effects).toEqual(range(6));
      // Six in the batch, then the guilty one alone, once.
      expect(counters).toMatchObject({ handled: 6, errors: 7, deadLettered: 0 });
    });

    it('passes a dead letter with the next commit, and gives a message up once', async () => {
      const store = new Transactions();
      const isPoison = (sequences: readonly number[]) =>
        sequences.includes(4) ? new Error('poison') : undefined;
      await send(5);
      const first = await pass({ from: 'beginning', batch: 2, offset: store }, store.handler(isPoison));
      expect(first.counters).toMatchObject({ handled: 4, deadLettered: 1 });
      // No commit came after it: the attempts are made again.
      const again = await pass({ batch: 2, offset: store }, store.handler(isPoison));
      expect(again.counters).toMatchObject({ handled: 0, errors: 3, deadLettered: 1 });
      expect(await pattern.inspect(redis, { key })).toMatchObject({ deadLettered: 1 });
      await redis.send(['XADD', key, '*', 'm', 'the next']);
      const next = await pass({ batch: 1, offset: store }, store.handler(isPoison));
      expect(next.counters).toMatchObject({ handled: 1, deadLettered: 1 });
      expect((await pass({ offset: store })).counters).toMatchObject({ received: 0 });
    });

    it('fails the start when the offset cannot be loaded, or is none', async () => {
      const load = async () => {
        throw new Error('the database is down');
      };
      await expect(consumer({ offset: { load } }).start(() => undefined)).rejects.toThrow('is down');
      const wrong = consumer({ offset: { load: async () => 'row 7' } });
      await expect(wrong.start(() => undefined)).rejects.toThrow(/^offset is "row 7"; it must be a position/);
    });
  });

  describe('of two readers', () => {
    it('are independent', async () => {
      await send(20);
      const one = await dieOver(2, { from: 'beginning', batch: 5, consumerName: 'one' });
      expect((await pass({ from: 'beginning', consumerName: 'other' })).sequences).toEqual(range(20));
      const rest = await pass({ batch: 5, consumerName: 'one' });
      expect(new Set([...one, ...rest.sequences])).toEqual(new Set(range(20)));
      expect((await pass({ consumerName: 'other' })).sequences).toEqual([]);
    });
  });

  describe('with a stream that was trimmed', () => {
    it('counts what went while it was away, once', async () => {
      await send(10);
      await pass({ from: 'beginning' });
      await send(100);
      await redis.send(['XTRIM', key, 'MAXLEN', '20']);
      expect((await pass()).counters).toMatchObject({ trimmed: 80, handled: 20, rewinds: 0 });
      expect((await pass()).counters).toMatchObject({ trimmed: 0, handled: 0 });
    });

    it('counts it too when the handler keeps the offset, to the last entry', async () => {
      const store = new Transactions();
      await send(10);
      await pass({ from: 'beginning', offset: store }, store.handler());
      await send(7);
      await redis.send(['XTRIM', key, 'MAXLEN', '0']);
      const { counters } = await pass({ offset: store }, store.handler());
      expect(counters).toMatchObject({ trimmed: 7, handled: 0, rewinds: 0 });
    });

    it('does not count what it had read, nor what was trimmed before its time', async () => {
      await send(10);
      await redis.send(['XTRIM', key, 'MAXLEN', '4']);
      expect((await pass({ from: 'beginning' })).counters).toMatchObject({ trimmed: 0, handled: 4 });
      await redis.send(['XTRIM', key, 'MAXLEN', '0']);
      await send(2);
      expect((await pass()).counters).toMatchObject({ trimmed: 0, handled: 2, rewinds: 0 });
    });
  });

  describe('ahead of the stream', () => {
    it('is set back when the stream was deleted and begun anew while it was away', async () => {
      await add('5-0', '9999999999999-0');
      await pass({ from: 'beginning' });
      await redis.send(['DEL', key]);
      await send(3);
      expect(await pass()).toMatchObject({ sequences: range(3), counters: { rewinds: 1, trimmed: 0 } });
      expect(await storedOffset()).toBe(await lastId());
      expect(await pass()).toMatchObject({ sequences: [], counters: { rewinds: 0 } });
    });

    it('is set back where the handler keeps it', async () => {
      const store = new Transactions();
      await add('9999999999999-0');
      await pass({ from: 'beginning', offset: store }, store.handler());
      await redis.send(['DEL', key]);
      await send(3);
      const { counters } = await pass({ offset: store }, store.handler());
      expect(counters).toMatchObject({ rewinds: 1, handled: 3 });
      expect(await store.load(`${key}:consumer-1`)).toBe(`${await lastId()} 3`);
    });

    it.each(['while it was away', 'while it ran'])(
      'is found by a lost entry, though newer ones hide the loss: %s',
      async (when) => {
        await add('5-0', '6-0', '10-0');
        await pass({ from: 'beginning' });
        const collector = new Collector();
        const started = consumer();
        const replace = () =>
          redis.send([
            ...['EVAL', REPLACE],
            ...['1', key, '3-0', '4-0', '5-1', '6-1', '7-0', '20-0', '21-0'],
          ]);
        if (when === 'while it was away') await replace();
        await started.start(collector.handler());
        if (when === 'while it ran') await replace();
        const ids = () => collector.seen.map(({ id }) => id);
        await waitFor(
          () => ids().includes('3-0') && ids().at(-1) === '21-0',
          'the ones below the old offset',
        );
        expect(ids().slice(-7)).toEqual(['3-0', '4-0', '5-1', '6-1', '7-0', '20-0', '21-0']);
        expect(started.counters()).toMatchObject({ rewinds: 1 });
      },
    );

    it('is found by a lost entry that was read after the last look', async () => {
      await add('5-0');
      await pass({ from: 'beginning' });
      const collector = new Collector();
      const started = consumer();
      await started.start(collector.handler());
      await add('8-0', '10-0');
      await collector.waitFor(2);
      // So that the place is remembered; looks come once a second.
      const laterMs = performance.now() + 110;
      await waitFor(() => performance.now() >= laterMs, 'a tenth of a second');
      const ids = ['7-0', '7-1', '7-2', '7-3', '20-0'];
      await redis.send(['EVAL', REPLACE, '1', key, ...ids]);
      await waitFor(() => collector.seen.some(({ id }) => id === '7-0'), 'the ones below the old offset');
      expect(started.counters()).toMatchObject({ rewinds: 1 });
    });

    it('is found by the count of entries when nothing else tells', async () => {
      await add('5-0', '6-0', '7-0');
      await pass({ from: 'beginning' });
      await redis.send(['DEL', key]);
      // As if everything up to 7-0 had been trimmed, but for what the stream has counted.
      await add('10-0');
      const { counters, seen } = await pass();
      expect(seen.map(({ id }) => id)).toEqual(['10-0']);
      expect(counters).toMatchObject({ rewinds: 1, trimmed: 0 });
    });

    it('goes back to the newest place that both know', async () => {
      await add('1-0', '2-0', '3-0');
      const collector = new Collector();
      const started = consumer({ from: 'beginning', batch: 1, onError: () => undefined });
      let atMs = performance.now();
      // Places are remembered ten times a second; each message takes a little longer than that.
      await started.start(
        collector.handler(async () => {
          atMs = Math.max(atMs + 110, performance.now());
          await waitFor(() => performance.now() >= atMs, 'the next tenth of a second');
        }),
      );
      await collector.waitFor(3);
      // A replica that had not received the last one, and the first new entry: as a failover leaves them.
      await redis.send([...['EVAL', REPLACE], ...['1', key, '1-0', '2-0', '2-1']]);
      await waitFor(() => collector.seen.some(({ id }) => id === '2-1'), 'the new one');
      expect(collector.seen.map(({ id }) => id)).toEqual(['1-0', '2-0', '3-0', '2-1']);
      expect(started.counters()).toMatchObject({ rewinds: 1 });
    });

    it('is not suspected when its entry was deleted by hand', async () => {
      await add('1-0', '2-0', '3-0');
      await pass({ from: 'beginning' });
      await redis.send(['XDEL', key, '3-0']);
      await add('4-0');
      const { counters, seen } = await pass();
      expect(seen.map(({ id }) => id)).toEqual(['4-0']);
      expect(counters).toMatchObject({ rewinds: 0, trimmed: 0 });
    });
  });

  describe('when the server comes back with less', () => {
    let own: TestRedis;
    let client: OpenClient;

    beforeEach(async () => {
      own = await TestRedis.start();
      client = await openClient('node-redis', own.url);
    });
    afterEach(async () => {
      await client.close();
      await own.stop();
    });

    const restart = async (started: Consumer) => {
      await own.kill();
      await waitFor(() => started.counters().disconnects > 0, 'the loss to be noticed');
      await own.run();
      const ping = () => client.redis.send(['PING'], { deadlineMs: 1000 });
      await waitFor(() => ping().then(Boolean, () => false), 'the server to answer');
    };
    const sendFrom = (producerId: string, count: number) =>
      pattern.createProducer(client.redis, { key, producerId }).send(numbered(count));

    it('without its last writes: skips nothing that comes next, and counts it', async () => {
      const collector = new Collector();
      const started = consumer({ from: 'beginning', batch: 5 }, client.redis);
      await started.start(collector.handler());
      await sendFrom('saved', 20);
      await collector.waitFor(20);
      await client.redis.send(['SAVE']);
      await sendFrom('unsaved', 20);
      await collector.waitFor(40);
      await restart(started);
      await sendFrom('next', 20);
      await collector.waitFor(60);
      const report = await started.stop({ drain: true });
      expect(report.counters).toMatchObject({ rewinds: 1, trimmed: 0 });
      const next = collector.seen.filter(({ producer }) => producer === 'next');
      // Nor does it repeat any: it looks before it reads.
      expect(next.map(({ sequence }) => sequence)).toEqual(range(20));
    });

    it('with nothing: stores the place of a reader anew that has not moved', async () => {
      const started = consumer({}, client.redis);
      await started.start(() => undefined);
      await restart(started);
      const stored = () => client.redis.send(['HLEN', `${key}:offsets`]);
      await waitFor(async () => (await stored()) === 1, 'the place to be stored');
    });

    it('with nothing: begins anew, sets the stored offset back too, and counts it', async () => {
      const collector = new Collector();
      const started = consumer({ from: 'beginning' }, client.redis);
      await started.start(collector.handler());
      await sendFrom('lost', 20);
      await collector.waitFor(20);
      await restart(started);
      await waitFor(() => started.counters().rewinds === 1, 'the loss to be counted');
      await sendFrom('next', 20);
      await collector.waitFor(40);
      await started.stop();
      await sendFrom('later', 3);
      const rest = new Collector();
      const again = consumer({}, client.redis);
      await again.start(rest.handler());
      const report = await again.stop({ drain: true });
      expect(rest.seen.map(({ id }) => id)).toEqual(range(3).map((sequence) => `later-${sequence}`));
      expect(report.counters).toMatchObject({ rewinds: 0, trimmed: 0 });
    });
  });

  const lastId = async () =>
    entryIds(await redis.send(['XREVRANGE', key, '+', '-', 'COUNT', '1']))[0] ?? 'none';
});

function entryIds(reply: unknown): string[] {
  if (!Array.isArray(reply)) return [];
  return reply.map((entry) => (Array.isArray(entry) ? String(entry[0]) : ''));
}

/** The same client, every write of which is seen, whichever connection it goes over. */
function recorded(client: RedisClient, see: (commands: readonly RedisCommand[]) => void): RedisClient {
  return {
    library: client.library,
    send: (command, options) => client.send(command, options),
    sendMany(commands, options) {
      see(commands);
      return client.sendMany(commands, options);
    },
    async openConnection(options) {
      const connection = await client.openConnection(options);
      return {
        send: (command, sendOptions) => connection.send(command, sendOptions),
        sendMany(commands, sendOptions) {
          see(commands);
          return connection.sendMany(commands, sendOptions);
        },
        drop: () => connection.drop(),
        get isConnected() {
          return connection.isConnected;
        },
        close: () => connection.close(),
      };
    },
    subscribe: (channel, onMessage, options) => client.subscribe(channel, onMessage, options),
    close: () => client.close(),
  };
}
