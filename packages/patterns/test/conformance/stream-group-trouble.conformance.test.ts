import { describe, expect, it } from 'vitest';
import { RedisReplyError, type RedisReplyKind } from '../../src/errors.js';
import type { ConsumerOptions } from '../../src/messaging/pattern.js';
import { streamGroup } from '../../src/messaging/stream-group.js';
import { Collector, range } from '../support/collector.js';
import { FOREVER_MS, Gate, GroupStage } from '../support/group-stage.js';
import { openClient } from '../support/variants.js';
import { waitFor } from '../support/wait-for.js';

/** What stream-group comes back from: a group, a stream or all data that vanish, and a Redis that refuses. */
const stage = new GroupStage('--lua-time-limit', '50');

/** Errors that a consumer reports, in order. */
class Errors {
  readonly seen: Error[] = [];
  readonly options: ConsumerOptions = { onError: (error) => this.seen.push(error) };

  of(kind: RedisReplyKind): Error[] {
    return this.seen.filter((error) => error instanceof RedisReplyError && error.kind === kind);
  }
}

/** Waits until the consumer waits in a read. */
const isBlocked = () =>
  waitFor(
    async () => /cmd=xreadgroup/.test(String(await stage.redis.send(['CLIENT', 'LIST', 'TYPE', 'normal']))),
    'a blocked read',
  );

describe('a group that vanishes under a blocked read', () => {
  /** A consumer that holds messages 0 to 2 for a retry that never comes, and handles what comes after them. */
  const holding = async (errors: Errors, collector: Collector) => {
    let fails = true;
    const consumer = stage.consumer({
      blockMs: 10_000,
      leaseMs: FOREVER_MS,
      retryDelaysMs: [FOREVER_MS],
      ...errors.options,
    });
    await consumer.start(
      collector.handler(() => {
        if (fails) throw new Error('not yet');
      }),
    );
    await stage.send(3);
    await waitFor(() => consumer.counters().inFlight === 3, 'the held');
    fails = false;
    await isBlocked();
    return consumer;
  };

  it('destroyed: is made anew, and what the stream holds is given out again, once', async () => {
    const [errors, collector] = [new Errors(), new Collector()];
    const consumer = await holding(errors, collector);
    await stage.redis.send(['XGROUP', 'DESTROY', stage.key, 'weir']);
    await collector.waitFor(3);
    expect(collector.sequences).toEqual(range(3));
    await stage.nothingIsPending();
    await waitFor(() => consumer.counters().inFlight === 0, 'nothing to be held');
    expect(consumer.counters()).toMatchObject({ handled: 3, trimmed: 0, deadLettered: 0 });
    expect(errors.of('NOGROUP')).toHaveLength(1);
  });

  it.each([
    ['the stream is deleted', (key: string) => ['DEL', key]],
    ['everything is', () => ['FLUSHALL']],
  ])('%s: what was held is dropped and counted, and new messages are read', async (_what, command) => {
    const [errors, collector] = [new Errors(), new Collector()];
    const consumer = await holding(errors, collector);
    await stage.redis.send(command(stage.key));
    await waitFor(() => consumer.counters().trimmed === 3, 'the vanished to be counted');
    await stage.send(2);
    await waitFor(() => consumer.counters().handled === 2, 'the new messages');
    await stage.nothingIsPending();
    expect(consumer.counters()).toMatchObject({ inFlight: 0, deadLettered: 0 });
    expect(errors.seen.length).toBeLessThan(5);
  });

  it('is not drained for ever when it is gone while only retries are left', async () => {
    const [errors, collector] = [new Errors(), new Collector()];
    const consumer = stage.consumer({ retryDelaysMs: [], leaseMs: FOREVER_MS, ...errors.options });
    const held = new Gate();
    await consumer.start(
      collector.handler(async () => {
        await held.opened;
        throw new Error('poison');
      }),
    );
    await stage.send(1);
    await waitFor(() => consumer.counters().inFlight === 1, 'the handler to begin');
    await stage.redis.send(['DEL', stage.key]);
    const stopping = consumer.stop({ deadlineMs: 10_000 });
    held.open();
    expect(await stopping).toMatchObject({ drained: true, unfinished: 0 });
    expect(consumer.counters()).toMatchObject({ trimmed: 1, deadLettered: 0 });
  });
});

describe('a server that comes back with nothing', () => {
  it('is read on from, with what was held dropped', async () => {
    const [errors, collector] = [new Errors(), new Collector()];
    let fails = true;
    const consumer = stage.consumer({ retryDelaysMs: [FOREVER_MS], ...errors.options });
    await consumer.start(
      collector.handler(() => {
        if (fails) throw new Error('not yet');
      }),
    );
    await stage.send(3);
    await waitFor(() => consumer.counters().inFlight === 3, 'the held');
    fails = false;
    await stage.server.kill();
    await stage.server.run();
    await waitFor(() => consumer.counters().trimmed === 3, 'the vanished to be counted');
    await stage.send(5);
    await waitFor(() => consumer.counters().handled === 5, 'the new messages');
    expect(consumer.counters()).toMatchObject({ inFlight: 0, deadLettered: 0 });
  });
});

describe('a Redis at maxmemory', () => {
  it('is drained: new messages, own pending ones, those of the dead; attempts are recorded all the same', async () => {
    await stage.send(10);
    await stage.dieWith(5, 'dead');
    const before = await stage.mortal({ consumerName: 'living', batch: 2 });
    await before.consumer.start(() => new Promise(() => undefined));
    await waitFor(() => before.consumer.counters().received === 2, 'own messages to be pending');
    await before.die();
    await stage.redis.send(['CONFIG', 'SET', 'maxmemory', '1']);
    try {
      await expect(stage.send(1)).rejects.toThrow(/maxmemory/);
      const [collector, errors] = [new Collector(), new Errors()];
      const recorded: number[] = [];
      const consumer = stage.consumer({ consumerName: 'living', ...errors.options });
      await consumer.start(
        collector.handler(async (messages) => {
          if (messages[0]?.attempt === 1) return;
          recorded.push(Number(await stage.redis.send(['HLEN', `${stage.key}:attempts:weir`])));
        }),
      );
      await collector.waitFor(10);
      await stage.nothingIsPending();
      expect(consumer.counters()).toMatchObject({ handled: 10, takenOver: 5, inFlight: 0 });
      expect(recorded.every((records) => records > 0)).toBe(true);
      expect(errors.seen).toEqual([]);
    } finally {
      await stage.redis.send(['CONFIG', 'SET', 'maxmemory', '0']);
    }
  });

  it('says so when the group of a start does not exist yet', async () => {
    await stage.redis.send(['CONFIG', 'SET', 'maxmemory', '1']);
    try {
      await expect(stage.consumer().start(() => undefined)).rejects.toMatchObject({ kind: 'OOM' });
    } finally {
      await stage.redis.send(['CONFIG', 'SET', 'maxmemory', '0']);
    }
  });
});

describe('a Redis that refuses', () => {
  /** Backoff waits at least 25, 50 and 100 ms before the second, third and fourth try. */
  const LEAST_MS_FOR_FOUR = 175;

  const comesBackFrom = async (kind: RedisReplyKind, trouble: () => Promise<() => Promise<unknown>>) => {
    const [errors, collector] = [new Errors(), new Collector()];
    const consumer = stage.consumer(errors.options);
    await consumer.start(collector.handler());
    await stage.send(1);
    await collector.waitFor(1);
    await isBlocked();
    const began = performance.now();
    const mend = await trouble();
    await waitFor(() => errors.of(kind).length >= 4, `errors of ${kind}`);
    expect(performance.now() - began).toBeGreaterThanOrEqual(LEAST_MS_FOR_FOUR);
    await mend();
    await stage.send(3);
    await waitFor(() => consumer.counters().handled === 4, 'the messages after the trouble');
    await stage.nothingIsPending();
  };

  it('READONLY: is asked again, ever more slowly, and read on from', () =>
    comesBackFrom('READONLY', async () => {
      await stage.redis.send(['REPLICAOF', '127.0.0.1', '1']);
      return () => stage.redis.send(['REPLICAOF', 'NO', 'ONE']);
    }));

  it('BUSY: is asked again, ever more slowly, and read on from', async () => {
    const other = await openClient('node-redis', stage.server.url);
    try {
      await comesBackFrom('BUSY', async () => {
        const running = other.redis.sendMany([['EVAL', 'while true do end', '0']], { deadlineMs: 60_000 });
        return async () => {
          await stage.redis.send(['SCRIPT', 'KILL']);
          await running;
        };
      });
    } finally {
      await other.close();
    }
  });

  it('goes on with its reads when the takeover is forbidden to it, and says so', async () => {
    const user = ['ACL', 'SETUSER', 'reader', 'on', '>secret', '~*', '&*', '+@all', '-xautoclaim'];
    await stage.redis.send(user);
    const url = stage.server.url.replace('redis://', 'redis://reader:secret@');
    const other = await openClient('node-redis', url);
    try {
      const [errors, collector] = [new Errors(), new Collector()];
      const consumer = stage.consumerOn(other.redis, errors.options);
      await consumer.start(collector.handler());
      await stage.send(5);
      await collector.waitFor(5);
      await waitFor(() => errors.of('NOPERM').length > 1, 'the refusal to be told');
      await consumer.stop({ drain: true });
      expect(await streamGroup.inspect(stage.redis, { key: stage.key })).toMatchObject({ pending: 0 });
    } finally {
      await other.close();
    }
  });
});
