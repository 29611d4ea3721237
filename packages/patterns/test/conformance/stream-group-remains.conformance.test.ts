import { describe, expect, it } from 'vitest';
import type { RedisClient } from '../../src/client/redis-client.js';
import { InvalidOptionError } from '../../src/errors.js';
import { DependencyUnavailableError, type Producer } from '../../src/messaging/pattern.js';
import { queue } from '../../src/messaging/queue.js';
import { streamGroup } from '../../src/messaging/stream-group.js';
import { Collector, numbered } from '../support/collector.js';
import { FOREVER_MS, Gate, GroupStage, LEASE_MS } from '../support/group-stage.js';
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

describe('trimming by others', () => {
  it('is counted once over all consumers, and does not count as a backlog for ever', async () => {
    const held = new Gate();
    const consumers = ['a', 'b'].map((consumerName) => stage.consumer({ consumerName, batch: 5 }));
    await Promise.all(consumers.map((consumer) => consumer.start(() => held.opened)));
    const sum = (counter: 'received' | 'handled' | 'trimmed') =>
      consumers.reduce((total, consumer) => total + consumer.counters()[counter], 0);
    await stage.send(5);
    await waitFor(() => sum('received') > 0, 'a first batch');
    await stage.send(100);
    await stage.redis.send(['XTRIM', stage.key, 'MAXLEN', '10']);
    held.open();
    await waitFor(() => sum('handled') + sum('trimmed') === 105, 'all to be accounted for');
    await stage.send(3);
    await waitFor(() => sum('handled') + sum('trimmed') === 108, 'those behind the gap');
    await Promise.all(consumers.map((consumer) => consumer.stop({ drain: true })));
    expect(sum('handled') + sum('trimmed')).toBe(108);
    expect(sum('trimmed')).toBeGreaterThan(80);
    expect(await stage.inspect()).toMatchObject({ unread: 0, pending: 0 });
    const capped = streamGroup.createProducer(stage.redis, { key: stage.key, maxLength: 20 });
    await capped.send(numbered(5));
    expect(await stage.inspect()).toMatchObject({ unread: 5 });
    await streamGroup.destroy(stage.redis, { key: stage.key });
    expect(await stage.redis.send(['KEYS', `${stage.key}*`])).toEqual([]);
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

  /** The client of a producer, whose only scripts are its looks for something to trim. They come one after another. */
  let looks = 0;
  const watched = (): RedisClient => ({
    library: stage.redis.library,
    send: (command, options) => stage.redis.send(command, options),
    sendMany(commands, options) {
      if (commands[0]?.[0] === 'EVAL') looks++;
      return stage.redis.sendMany(commands, options);
    },
    openConnection: (options) => stage.redis.openConnection(options),
    subscribe: (channel, onMessage, options) => stage.redis.subscribe(channel, onMessage, options),
    close: () => stage.redis.close(),
  });
  const sendWhileLooksAreTaken = async (producer: Producer, count: number) => {
    const enough = looks + count;
    await waitFor(async () => {
      await producer.send(numbered(200));
      return looks >= enough;
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
    const producer = streamGroup.createProducer(watched(), { key: stage.key, keepHandled: 0 });
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

  it('is refused where nothing handled is kept', () => {
    const create = () => queue.createProducer(stage.redis, { key: stage.key, keepHandled: 1 });
    expect(create).toThrow(InvalidOptionError);
    expect(create).toThrow('only a stream keeps what was handled');
  });

  it('leaves a stream without groups alone', async () => {
    const producer = streamGroup.createProducer(watched(), { key: stage.key, keepHandled: 0 });
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
