import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RedisClient, RedisReply } from '../../src/client/redis-client.js';
import {
  BatchError,
  type Consumer,
  type ConsumerOptions,
  DependencyUnavailableError,
  type Message,
} from '../../src/messaging/pattern.js';
import { reliableQueue } from '../../src/messaging/reliable-queue.js';
import { Collector, numbered, range } from '../support/collector.js';
import { Gate } from '../support/gate.js';
import { TestRedis } from '../support/redis.js';
import { type OpenClient, openClient } from '../support/variants.js';
import { waitFor } from '../support/wait-for.js';

/**
 * What `reliable-queue` does with failing handlers, lost replies, a Redis that forgets or is full, and at the end. Its
 * leases have a file of their own; what all patterns promise is in messaging.conformance and messaging-faults.
 */
let server: TestRedis;
let opened: OpenClient;
let redis: RedisClient;
let key: string;
let keys = 0;
let running: Consumer[];
let errors: Error[];

beforeAll(async () => {
  server = await TestRedis.start('--appendonly', 'yes', '--appendfsync', 'always');
  opened = await openClient('node-redis', server.url);
  redis = opened.redis;
});
afterAll(async () => {
  await opened.close();
  await server.stop();
});
beforeEach(() => {
  key = `reliable:${++keys}`;
  running = [];
  errors = [];
});
afterEach(async () => {
  await Promise.all(running.map((consumer) => consumer.stop({ deadlineMs: 0 }).catch(() => undefined)));
  await redis.send(['CONFIG', 'SET', 'maxmemory', '0']);
});

const consumer = (options: ConsumerOptions = {}) => {
  const onError = (error: Error) => void errors.push(error);
  const created = reliableQueue.createConsumer(redis, { key, blockMs: 100, onError, ...options });
  running.push(created);
  return created;
};
const send = (count: number) =>
  reliableQueue.createProducer(redis, { key, producerId: 'p' }).send(numbered(count));
const state = () => reliableQueue.inspect(redis, { key });
const processing = () => `${key}:processing:weir:consumer-1`;
const isUp = () =>
  redis.send(['PING'], { deadlineMs: 1000 }).then(
    () => true,
    () => false,
  );
/** As an operator would do it: only the connection that reads is cut. */
const cut = async () => {
  const list = String(await redis.send(['CLIENT', 'LIST']));
  const line = list.split('\n').find((text) => text.includes('name=weir:reliable-queue:'));
  await redis.send(['CLIENT', 'KILL', 'ID', /\bid=(\d+)/.exec(line ?? '')?.[1] ?? '']);
};
const allRemoved = () => waitFor(async () => (await state()).pending === 0, 'all to be removed');

describe('a message that fails', () => {
  const failing = (messages: readonly Message[], sequence: number) => {
    const failures = messages.flatMap((message, index) =>
      message.sequence === sequence ? [[index, new Error('poison')] as const] : [],
    );
    if (failures.length > 0) throw new BatchError(new Map(failures));
  };

  it('among 1,000 is the only one to be retried and given up, and holds up nobody', async () => {
    await send(1000);
    const attempts: number[] = [];
    const handledBefore: number[] = [];
    let handled = 0;
    const started = consumer({ retryDelaysMs: [30, 30] });
    await started.start((messages) => {
      for (const { sequence, attempt } of messages) {
        if (sequence === 40) handledBefore.push(handled);
        else attempts.push(attempt);
      }
      handled += messages.length;
      failing(messages, 40);
    });
    await waitFor(() => started.counters().deadLettered === 1, 'the poison to be given up');
    await waitFor(() => started.counters().handled === 999, 'the others');
    await allRemoved();
    expect(attempts).toEqual(range(999).map(() => 1));
    expect(handledBefore).toHaveLength(3);
    expect(started.counters()).toMatchObject({ retries: 2, errors: 3, fenced: 0, inFlight: 0 });
    expect(await state()).toMatchObject({ deadLettered: 1, unread: 0 });
  });

  it('is retried while others are handled', async () => {
    await send(1);
    const collector = new Collector();
    const started = consumer({ retryDelaysMs: [60_000] });
    await started.start(collector.handler((messages) => failing(messages, 0)));
    await waitFor(() => started.counters().errors === 1, 'the failure');
    await reliableQueue.createProducer(redis, { key }).send(numbered(3));
    await waitFor(() => started.counters().received === 4, 'the others to be taken');
    expect(started.counters()).toMatchObject({ retries: 0 });
  });

  it('lies in the dead letters with id, reason, attempts and content', async () => {
    await send(1);
    await redis.send(['LPUSH', key, 'foreign']);
    const started = consumer({ retryDelaysMs: [1] });
    await started.start(() => {
      throw new Error('will not do');
    });
    await waitFor(() => started.counters().deadLettered === 2, 'both to be given up');
    const letters = await fieldsOf(`${key}:dead`);
    expect(letters.map((fields) => fields.map(String))).toEqual([
      ['id', 'p-0', 'reason', 'will not do', 'attempts', '2', 'm', 'weir1 p 0\nmessage 0'],
      ['id', `${key}#1`, 'reason', 'will not do', 'attempts', '2', 'm', 'foreign'],
    ]);
    expect(await state()).toMatchObject({ pending: 0, deadLettered: 2 });
  });

  it('stays in the processing list until it is in the dead letters', async () => {
    await send(1);
    const started = consumer({ retryDelaysMs: [] });
    await started.start(async () => {
      await redis.send(['SET', `${key}:dead`, 'in the way']);
      throw new Error('fails');
    });
    await waitFor(() => errors.some(({ message }) => message.startsWith('WRONGTYPE')), 'a refused move');
    expect(await redis.send(['LLEN', processing()])).toBe(1);
    expect(started.counters()).toMatchObject({ deadLettered: 0, inFlight: 1 });
    await redis.send(['DEL', `${key}:dead`]);
    await waitFor(() => started.counters().deadLettered === 1, 'the move to be tried again');
    expect(await state()).toMatchObject({ pending: 0, deadLettered: 1 });
  });
});

describe('a reply that is lost', () => {
  it('leaves its messages in the processing list, which is given back after the reconnect', async () => {
    const collector = new Collector();
    const started = consumer();
    await started.start(collector.handler());
    await send(3);
    await collector.waitFor(3);
    // What a BLMOVE leaves whose reply does not arrive.
    await redis.send(['LPUSH', processing(), 'weir1 p 3\nlost', 'weir1 p 4\nlost']);
    await cut();
    await collector.waitFor(5);
    await allRemoved();
    expect(collector.seen.map(({ sequence, attempt }) => [sequence, attempt])).toEqual(
      range(5).map((sequence) => [sequence, 1]),
    );
  });

  it('is found as well when its command was carried out long after the connection was given up', async () => {
    const collector = new Collector();
    const started = consumer({ leaseMs: 300 });
    await started.start(collector.handler());
    await send(1);
    await collector.waitFor(1);
    await redis.send(['LPUSH', processing(), 'weir1 p 1\nlate']);
    await collector.waitFor(2);
    await allRemoved();
    expect(started.counters()).toMatchObject({ disconnects: 0, fenced: 0, handled: 2 });
  });

  it('does not hand over again what waits for a retry', async () => {
    await send(2);
    const attempts: number[] = [];
    const started = consumer({ retryDelaysMs: [300] });
    await started.start(([message]) => {
      attempts.push(message?.attempt ?? 0);
      if (message?.attempt === 1) throw new Error('not yet');
    });
    await waitFor(() => started.counters().errors === 2, 'the failures');
    await cut();
    await waitFor(() => started.counters().disconnects === 1, 'the loss');
    await waitFor(() => started.counters().handled === 2, 'the retries');
    await allRemoved();
    expect(attempts).toEqual([1, 2, 2]);
    expect(started.counters()).toMatchObject({ received: 2, fenced: 0 });
  });

  it('in a batch with a connection that breaks under the handler costs nothing', async () => {
    await send(6);
    const gate = new Gate();
    const collector = new Collector();
    const started = consumer({ batch: 3 });
    await started.start(collector.handler(() => gate.opened));
    await waitFor(() => started.counters().inFlight === 3, 'the first batch');
    await cut();
    await waitFor(() => started.counters().disconnects === 1, 'the loss');
    gate.open();
    await collector.waitFor(6);
    await allRemoved();
    expect(collector.sequences).toEqual(range(6));
    expect(started.counters()).toMatchObject({ fenced: 0, handled: 6 });
  });
});

describe('a Redis that comes back', () => {
  it('with all it had: what was taken is finished, nothing is lost or repeated', async () => {
    await send(8);
    const gate = new Gate();
    const collector = new Collector();
    const started = consumer({ batch: 4 });
    await started.start(collector.handler(() => gate.opened));
    await waitFor(() => started.counters().inFlight === 4, 'the first batch');
    await server.kill();
    gate.open();
    await waitFor(() => started.counters().disconnects > 0, 'the loss');
    await server.run();
    await waitFor(isUp, 'the shared connection');
    await collector.waitFor(8);
    await allRemoved();
    expect(collector.sequences).toEqual(range(8));
  });

  it.each<[string, (forgetful: TestRedis) => Promise<unknown>]>([
    ['after FLUSHALL', () => redis.send(['FLUSHALL'])],
    ['after a restart without persistence', (forgetful) => forgetful.kill().then(() => forgetful.run())],
  ])('with nothing, %s: goes on with what comes, without a hot loop', async (_how, forget) => {
    const forgetful = await TestRedis.start();
    const keep = [opened, redis] as const;
    opened = await openClient('node-redis', forgetful.url);
    redis = opened.redis;
    try {
      await send(4);
      const gate = new Gate();
      const collector = new Collector();
      const started = consumer({ batch: 2, leaseMs: 300 });
      await started.start(collector.handler(() => gate.opened));
      await waitFor(() => started.counters().inFlight === 2, 'the first batch');
      const since = performance.now();
      await forget(forgetful);
      await waitFor(isUp, 'the shared connection');
      await waitFor(async () => (await redis.send(['EXISTS', `${key}:leases`])) === 1, 'a new lease');
      gate.open();
      await waitFor(() => started.counters().fenced === 2, 'the removals that find nothing');
      await reliableQueue.createProducer(redis, { key, producerId: 'q' }).send(numbered(3));
      await collector.waitFor(5);
      await allRemoved();
      // The pauses begin at 25 ms and double; the lease is tried three times per 300 ms.
      const mostErrors = 5 + (performance.now() - since) / 50;
      expect(errors.length).toBeLessThan(mostErrors);
      expect((await state()).keys).toEqual([`${key}:leases`]);
      await started.stop();
    } finally {
      await opened.close();
      await forgetful.stop();
      [opened, redis] = keep;
    }
  });
});

describe('a Redis that is out of memory', () => {
  /** No memory is left for whatever may grow: at one byte, every such command is refused. */
  const fill = () => redis.send(['CONFIG', 'SET', 'maxmemory', '1']);

  it.each([1, 10])(
    'is drained all the same, with dead letters and leases, in batches of %i',
    async (batch) => {
      await send(30);
      await fill();
      await expect(send(1)).rejects.toMatchObject({ cause: { kind: 'OOM' } });
      const collector = new Collector();
      const started = consumer({ batch, retryDelaysMs: [1] });
      await started.start(
        collector.handler((messages) => {
          if (messages.some(({ sequence }) => sequence === 7)) throw new Error('poison');
        }),
      );
      await collector.waitFor(29);
      await waitFor(() => started.counters().deadLettered === 1, 'the dead letter');
      await allRemoved();
      expect(await state()).toMatchObject({ unread: 0, deadLettered: 1 });
      const waited = started.counters().received;
      await redis.send(['CONFIG', 'SET', 'maxmemory', '0']);
      await reliableQueue.createProducer(redis, { key }).send(numbered(1));
      await waitFor(() => started.counters().received === waited + 1, 'it to go on');
      expect(errors.filter(({ message }) => message !== 'poison')).toEqual([]);
    },
  );

  it('lets a consumer resume what its predecessor died over, with its attempts on record', async () => {
    await send(2);
    const dying = consumer();
    await dying.start(() => new Promise(() => undefined));
    await waitFor(() => dying.counters().inFlight === 2, 'it to begin');
    await dying.stop({ deadlineMs: 0 });
    await fill();
    const attempts: number[] = [];
    await consumer().start((messages) => {
      attempts.push(...messages.map(({ attempt }) => attempt));
    });
    await waitFor(() => attempts.length === 2, 'both');
    expect(attempts).toEqual([2, 2]);
    await allRemoved();
  });
});

describe('the end', () => {
  it('returns what was taken and not begun to the head, in order, and leaves no trace', async () => {
    await send(6);
    const before = await redis.send(['LRANGE', key, '0', '-1']);
    const started = consumer({ batch: 4 });
    await started.start(() => {
      throw new DependencyUnavailableError('down', { retryAfterMs: 60_000 });
    });
    await waitFor(() => started.counters().inFlight === 4, 'the first batch');
    expect(await started.stop({ deadlineMs: 20 })).toMatchObject({ drained: false, unfinished: 0 });
    expect(await redis.send(['LRANGE', key, '0', '-1'])).toEqual(before);
    expect((await state()).keys).toEqual([key]);
  });

  it('comes in time under a handler that never returns; what that works on stays ours until the lease runs out', async () => {
    await send(5);
    const started = consumer({ batch: 2, leaseMs: 300 });
    await started.start(() => new Promise(() => undefined));
    await waitFor(() => started.counters().inFlight === 2, 'the first batch');
    const report = await started.stop({ deadlineMs: 20 });
    expect(report).toMatchObject({ drained: false, unfinished: 2 });
    expect(await state()).toMatchObject({ unread: 3, pending: 2 });
    const collector = new Collector();
    await consumer({ consumerName: 'other', leaseMs: 300 }).start(collector.handler());
    await collector.waitFor(5);
    expect(collector.seen.filter(({ attempt }) => attempt === 2).map(({ sequence }) => sequence)).toEqual([
      0, 1,
    ]);
  });

  it('waits for the retries that are due', async () => {
    await send(3);
    const collector = new Collector();
    const started = consumer({ retryDelaysMs: [50] });
    await started.start(
      collector.handler(([message]) => {
        if (message?.attempt === 1) throw new Error('not yet');
      }),
    );
    await waitFor(() => started.counters().errors === 3, 'the failures');
    expect(await started.stop()).toMatchObject({ drained: true, unfinished: 0 });
    expect(collector.sequences).toEqual(range(3));
    expect((await state()).keys).toEqual([]);
  });
});

describe('keys', () => {
  it.each([
    ['processing:weir:consumer-1', 'list'],
    ['leases', 'zset'],
    ['attempts', 'hash'],
    ['dead', 'stream'],
  ])('%s that hold something else are refused, and nothing is taken', async (name, needed) => {
    await send(1);
    await redis.send(['SET', `${key}:${name}`, 'mine']);
    await expect(consumer().start(() => undefined)).rejects.toMatchObject({
      code: 'FOREIGN_KEY',
      message: expect.stringMatching(`${key}:${name} holds a string, a ${needed} is needed`),
    });
    expect(await redis.send(['LLEN', key])).toBe(1);
  });

  it('goes back to the queue when a key of the wrong type comes in between', async () => {
    const collector = new Collector();
    await consumer().start(collector.handler());
    await redis.send(['SET', processing(), 'in the way']);
    await send(2);
    await waitFor(() => errors.length > 0, 'a refusal');
    expect(collector.seen).toEqual([]);
    expect(await redis.send(['LLEN', key])).toBe(2);
    await redis.send(['DEL', processing()]);
    await collector.waitFor(2);
  });
});

/** Names and values of the entries of a stream. */
async function fieldsOf(stream: string): Promise<RedisReply[][]> {
  const entries = await redis.send(['XRANGE', stream, '-', '+']);
  if (!Array.isArray(entries)) return [];
  return entries.map((entry) => (Array.isArray(entry) && Array.isArray(entry[1]) ? entry[1] : []));
}
