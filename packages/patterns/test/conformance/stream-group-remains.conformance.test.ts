import { describe, expect, it } from 'vitest';
import { DependencyUnavailableError, type Producer } from '../../src/messaging/pattern.js';
import { streamGroup } from '../../src/messaging/stream-group.js';
import { Collector, numbered } from '../support/collector.js';
import { FOREVER_MS, GroupStage, LEASE_MS } from '../support/group-stage.js';
import { waitFor } from '../support/wait-for.js';

/**
 * What stream-group leaves behind: consumers that stop, messages that are given up, streams that are trimmed.
 */
const stage = new GroupStage();

describe('a consumer that stops', () => {
  it('leaves neither names nor pending entries behind, however often it starts', async () => {
    const RESTARTS = 1000;
    const names = ['a', 'b', 'c', 'd'];
    await stage.send(50);
    let handled = 0;
    await Promise.all(
      names.map(async (consumerName) => {
        for (let restart = 0; restart < RESTARTS / names.length; restart++) {
          const consumer = streamGroup.createConsumer(stage.redis, {
            ...{ key: stage.key, consumerName, batch: 1, blockMs: 50, from: 'beginning' },
          });
          await consumer.start((messages) => {
            handled += messages.length;
          });
          await consumer.stop();
        }
      }),
    );
    const last = stage.consumer();
    await last.start(() => undefined);
    await last.stop({ drain: true });
    expect(handled + last.counters().handled).toBe(50);
    expect(await stage.inspect()).toMatchObject({ pending: 0, unread: 0 });
    expect(await stage.consumers()).toEqual({});
  });

  it('takes the names of the dead out of the group, but of nobody who has something pending', async () => {
    await stage.send(1);
    await redisReads('silent', 1);
    await stage.redis.send(['XACK', stage.key, 'weir', ...(await stage.entryIds())]);
    await stage.send(1);
    await redisReads('holds', 1);
    await waitFor(async () => Object.keys(await stage.consumers()).length === 2, 'both names');
    const living = stage.consumer({ consumerName: 'living', leaseMs: FOREVER_MS, blockMs: 500 });
    await living.start(() => undefined);
    expect(await stage.consumers()).toMatchObject({ silent: 0, holds: 1 });
    await waitFor(async () => (await stage.idleTimes()).some((ms) => ms > LEASE_MS), 'the silence');
    const next = stage.consumer({ consumerName: 'next', leaseMs: 100, blockMs: 50 });
    await next.start(() => undefined);
    await waitFor(() => next.counters().takenOver === 1, 'the takeover');
    await waitFor(async () => !('holds' in (await stage.consumers())), 'the sweep');
    expect(await stage.consumers()).not.toHaveProperty('silent');
    // Whether its name was swept or not: a consumer that lives goes on.
    await stage.send(20);
    await waitFor(() => living.counters().handled + next.counters().handled === 21, 'all of them');
    await stage.nothingIsPending();
  });

  it('gives back what it holds for a retry, at once and with its attempts', async () => {
    await stage.send(2);
    const first = stage.consumer({
      consumerName: 'first',
      leaseMs: FOREVER_MS,
      retryDelaysMs: [1, FOREVER_MS],
    });
    await first.start(() => {
      throw new Error('not yet');
    });
    await waitFor(() => first.counters().errors === 4, 'two attempts at each');
    expect(await first.stop({ deadlineMs: 0 })).toMatchObject({ drained: false, unfinished: 0 });
    const collector = new Collector();
    const second = stage.consumer({ consumerName: 'second', leaseMs: FOREVER_MS });
    await second.start(collector.handler());
    await collector.waitFor(2);
    expect(collector.seen.map(({ attempt }) => attempt)).toEqual([3, 3]);
    await stage.nothingIsPending();
    expect(await stage.redis.send(['EXISTS', `${stage.key}:attempts:weir`])).toBe(0);
  });

  it('uses up no attempt of messages it gives back because the database is down, however often', async () => {
    await stage.send(2);
    for (let life = 0; life < 6; life++) {
      const paused = stage.consumer({
        consumerName: `life-${life}`,
        retryDelaysMs: [1],
        leaseMs: FOREVER_MS,
      });
      await paused.start(() => {
        throw new DependencyUnavailableError('the database is down', { retryAfterMs: FOREVER_MS });
      });
      await waitFor(() => paused.counters().batches > 0, 'the pause');
      expect(await paused.stop({ deadlineMs: 0 })).toMatchObject({ unfinished: 0 });
    }
    const collector = new Collector();
    const last = stage.consumer({ consumerName: 'last', leaseMs: FOREVER_MS });
    await last.start(collector.handler());
    await collector.waitFor(2);
    expect(collector.seen.map(({ attempt }) => attempt)).toEqual([1, 1]);
    expect(await stage.inspect()).toMatchObject({ deadLettered: 0 });
  });
});

describe('a poison message among 1,000', () => {
  it('is the only one that is given up, takes no attempt of a neighbour, and holds nobody up', async () => {
    const POISON = 137;
    const attempts: number[] = [];
    let otherHandled = 0;
    const consumer = stage.consumer({ batch: 100, retryDelaysMs: [300, 1] });
    await consumer.start((messages) => {
      const poison = messages.find(({ sequence }) => sequence === POISON);
      if (poison !== undefined && messages.length === 1) {
        attempts.push(otherHandled);
        throw new Error('poison');
      }
      if (poison !== undefined) throw new Error('the whole batch is rolled back');
      otherHandled += messages.length;
    });
    await stage.send(1000);
    await waitFor(() => consumer.counters().deadLettered === 1, 'the dead letter');
    await waitFor(() => otherHandled === 999, 'all others');
    const letters = await streamGroup.deadLetters(stage.redis, { key: stage.key }).list();
    expect(letters).toMatchObject([{ attempts: 3 }]);
    expect(letters[0]?.messageId).toMatch(new RegExp(`-${POISON}$`));
    // Its batch was rolled back once; while the poison waited for its retry, all the rest went through.
    expect(attempts[0]).toBeGreaterThanOrEqual(900 - 1);
    expect(consumer.counters()).toMatchObject({ handled: 999, dropped: 0, inFlight: 0 });
    await stage.nothingIsPending();
  });
});

describe('trimming (keepHandled)', () => {
  const length = async () => Number(await stage.redis.send(['XLEN', stage.key]));
  /** Sends in portions, so that a trim is due after each, until the stream is as short as wanted. */
  const sendUntil = async (keepHandled: number, isEnough: () => Promise<boolean>) => {
    const producer = streamGroup.createProducer(stage.redis, { key: stage.key, keepHandled });
    await waitFor(async () => {
      await producer.send(numbered(200));
      return isEnough();
    }, 'the trim');
    await producer.close();
    return producer.counters().acknowledged;
  };

  /** Each look of a trim is one XINFO GROUPS, and nothing else here asks for that. */
  const looks = async () => {
    const stats = String(await stage.redis.send(['INFO', 'commandstats']));
    return Number(/cmdstat_xinfo\|groups:calls=(\d+)/.exec(stats)?.[1] ?? 0);
  };
  const sendWhileLooksAreTaken = async (producer: Producer, count: number) => {
    const before = await looks();
    await waitFor(async () => {
      await producer.send(numbered(200));
      return (await looks()) >= before + count;
    }, 'the trimmer to look');
  };

  it('keeps a stream short whose groups have handled everything, and the newest that were handled', async () => {
    const consumer = stage.consumer();
    await consumer.start(() => undefined);
    const sent = await sendUntil(300, async () => (await length()) < consumer.counters().handled / 2);
    expect(sent).toBeGreaterThan(600);
    expect(await length()).toBeGreaterThanOrEqual(300);
    await consumer.stop({ drain: true });
    expect(consumer.counters()).toMatchObject({ handled: sent, trimmed: 0 });
  });

  it('never removes what the slowest group has not read, or has read and not acknowledged', async () => {
    for (const slow of ['unread', 'pending']) {
      await stage.redis.send(['XGROUP', 'CREATE', stage.key, slow, '0', 'MKSTREAM']);
    }
    const fast = stage.consumer();
    await fast.start(() => undefined);
    await stage.send(10);
    // The first entry of `pending` is not acknowledged, all others of it are; `unread` has read nothing.
    const read = ['XREADGROUP', 'GROUP', 'pending', 'slow', 'COUNT', '10', 'STREAMS', stage.key, '>'];
    await waitFor(async () => (await stage.redis.send(read)) !== null, 'the slow group to read');
    const [first = '', ...others] = await stage.entryIds();
    await stage.redis.send(['XACK', stage.key, 'pending', ...others]);
    const producer = streamGroup.createProducer(stage.redis, { key: stage.key, keepHandled: 0 });
    await sendWhileLooksAreTaken(producer, 3);
    expect((await stage.entryIds())[0]).toBe(first);
    await stage.redis.send(['XGROUP', 'DESTROY', stage.key, 'unread']);
    // From now on only the one entry it has not acknowledged holds the trim back.
    await stage.redis.send(['XGROUP', 'SETID', stage.key, 'pending', '$']);
    await sendWhileLooksAreTaken(producer, 3);
    expect((await stage.entryIds())[0]).toBe(first);
    await stage.redis.send(['XGROUP', 'DESTROY', stage.key, 'pending']);
    await sendUntil(0, async () => (await stage.entryIds())[0] !== first);
    await fast.stop({ drain: true });
    expect(fast.counters()).toMatchObject({ trimmed: 0 });
  });

  it('leaves a stream without groups alone', async () => {
    const producer = streamGroup.createProducer(stage.redis, { key: stage.key, keepHandled: 0 });
    await sendWhileLooksAreTaken(producer, 2);
    await producer.close();
    expect(await length()).toBe(producer.counters().acknowledged);
  });
});

/** Reads as a consumer does that is no weir consumer. */
async function redisReads(consumerName: string, count: number): Promise<void> {
  const create = ['XGROUP', 'CREATE', stage.key, 'weir', '0', 'MKSTREAM'];
  await stage.redis.send(create).catch(() => undefined);
  const read = ['XREADGROUP', 'GROUP', 'weir', consumerName, 'COUNT', String(count)];
  await stage.redis.send([...read, 'STREAMS', stage.key, '>']);
}
