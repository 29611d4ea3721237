import { describe, expect, it } from 'vitest';
import type { CommandOutcome, RedisClient } from '../../src/client/redis-client.js';
import { NotConnectedError } from '../../src/errors.js';
import { DependencyUnavailableError } from '../../src/messaging/pattern.js';
import { streamGroup } from '../../src/messaging/stream-group.js';
import { Collector, numbered, range } from '../support/collector.js';
import { FOREVER_MS, Gate, GroupStage, LEASE_MS, never, pass } from '../support/group-stage.js';
import { TestRedis } from '../support/redis.js';
import { openClient } from '../support/variants.js';
import { waitFor } from '../support/wait-for.js';

/**
 * Who owns a message of stream-group: takeover from the dead, leases of the slow, the fence against zombies. Over one
 * adapter: what the adapters must do for it is in their own suite.
 */
const stage = new GroupStage();

describe('takeover', () => {
  it('gives what a dead consumer had taken to a live one, all of it, a batch at a time', async () => {
    await stage.send(30);
    await stage.dieWith(30, 'dead');
    const collector = new Collector();
    const heir = stage.consumer({ consumerName: 'heir', batch: 7 });
    await heir.start(collector.handler());
    await collector.waitFor(30);
    expect(Math.max(...collector.batches)).toBeLessThanOrEqual(7);
    expect(collector.sequences).toEqual(range(30));
    expect(new Set(collector.seen.map(({ attempt }) => attempt))).toEqual(new Set([2]));
    await stage.nothingIsPending();
    expect(heir.counters()).toMatchObject({ takenOver: 30, handled: 30, fenced: 0, inFlight: 0 });
  });

  it('waits for the lease to run out', async () => {
    await stage.send(1);
    await stage.dieWith(1, 'dead');
    const heir = stage.consumer({ leaseMs: FOREVER_MS });
    await heir.start(() => undefined);
    await pass(2 * LEASE_MS);
    expect(heir.counters()).toMatchObject({ takenOver: 0, received: 0 });
  });

  it('goes on with new messages while there is much to take over', async () => {
    await stage.send(200);
    await stage.dieWith(200, 'dead');
    const order: number[] = [];
    const heir = stage.consumer({ batch: 10 });
    await heir.start(async (messages) => {
      order.push(...messages.map(({ attempt }) => attempt));
      if (order.length === 10) await stage.send(50);
    });
    await waitFor(() => order.length === 250, 'all of them');
    expect(order.indexOf(1)).toBeLessThan(50);
  });

  it('counts pending entries of the dead that were trimmed away', async () => {
    await stage.send(10);
    await stage.dieWith(10, 'dead');
    await stage.redis.send(['XTRIM', stage.key, 'MAXLEN', '4']);
    const collector = new Collector();
    const heir = stage.consumer();
    await heir.start(collector.handler());
    await collector.waitFor(4);
    await waitFor(() => heir.counters().trimmed === 6, 'the trimmed');
    expect(heir.counters()).toMatchObject({ takenOver: 4, inFlight: 0 });
    await stage.nothingIsPending();
  });

  it('is shared by several heirs, each message going to one of them', async () => {
    await stage.send(60);
    await stage.dieWith(60, 'dead');
    const collectors = [new Collector(), new Collector()];
    const heirs = collectors.map((_, index) => stage.consumer({ consumerName: `heir-${index}`, batch: 5 }));
    await Promise.all(heirs.map((heir, index) => heir.start(collectors[index]?.handler() ?? never)));
    const seen = () => collectors.flatMap(({ sequences }) => sequences);
    await waitFor(() => seen().length >= 60, 'everything');
    await stage.nothingIsPending();
    expect(seen().sort((a, b) => a - b)).toEqual(range(60));
  });

  it('works on a server that does not know XAUTOCLAIM', async () => {
    const old = await TestRedis.start('--rename-command', 'XAUTOCLAIM', '');
    const client = await openClient('node-redis', old.url);
    const errors: Error[] = [];
    try {
      const producer = streamGroup.createProducer(client.redis, { key: stage.key });
      await producer.send(numbered(30));
      const victim = await openClient('node-redis', old.url);
      const dead = stage.consumerOn(victim.redis, { consumerName: 'dead', batch: 30 });
      await dead.start(never);
      await waitFor(() => dead.counters().received === 30, 'the victim to take them');
      await victim.close();
      const collector = new Collector();
      const heir = stage.consumerOn(client.redis, {
        consumerName: 'heir',
        batch: 7,
        onError: (error) => errors.push(error),
      });
      await heir.start(collector.handler());
      await collector.waitFor(30);
      await heir.stop({ drain: true });
      expect(heir.counters()).toMatchObject({ takenOver: 30, handled: 30 });
      expect(await streamGroup.inspect(client.redis, { key: stage.key })).toMatchObject({ pending: 0 });
      expect(errors).toEqual([]);
    } finally {
      await client.close();
      await old.stop();
    }
  });

  it('ends a message that kills one consumer after another in the dead letters, and no neighbour', async () => {
    await stage.send(9);
    const handled: number[] = [];
    let lives = 0;
    const POISON = 4;
    /** Dies as soon as it is given the poison message. */
    const live = async () => {
      const name = `life-${lives++}`;
      const { consumer: life, die } = await stage.mortal({
        consumerName: name,
        batch: 9,
        retryDelaysMs: [1, 1],
      });
      let died = false;
      await life.start((messages) => {
        if (messages.some(({ sequence }) => sequence === POISON)) {
          died = true;
          return never();
        }
        handled.push(...messages.map(({ sequence }) => sequence));
      });
      await waitFor(() => died || life.counters().deadLettered === 1, 'death or giving up');
      if (died) await die();
      return died;
    };
    while (lives < 10 && (await live())) {}
    // Three attempts as with a handler that throws, then the move.
    expect(lives).toBe(4);
    await stage.nothingIsPending();
    expect(handled.sort((a, b) => a - b)).toEqual(range(9).filter((sequence) => sequence !== POISON));
    const letters = await streamGroup.deadLetters(stage.redis, { key: stage.key }).list();
    expect(letters).toMatchObject([{ attempts: 3 }]);
    expect(letters[0]?.messageId).toMatch(new RegExp(`-${POISON}$`));
    expect(await stage.redis.send(['EXISTS', `${stage.key}:attempts:weir`])).toBe(0);
  });
});

describe('the idle clock', () => {
  it('is kept alive while a handler works longer than the lease', async () => {
    await stage.send(5);
    const held = new Gate();
    const slow = await stage.mortal({ consumerName: 'slow' });
    const collector = new Collector();
    await slow.consumer.start(collector.handler(() => held.opened));
    await waitFor(() => slow.consumer.counters().inFlight > 0, 'the slow handler to begin');
    const other = stage.consumer({ consumerName: 'other' });
    await other.start(() => undefined);
    await pass(2.5 * LEASE_MS);
    held.open();
    await collector.waitFor(5);
    await slow.consumer.stop({ drain: true });
    expect(slow.consumer.counters()).toMatchObject({ handled: 5, fenced: 0 });
    expect(other.counters()).toMatchObject({ takenOver: 0 });
    expect((await stage.inspect()).pending).toBe(0);
  });

  it('is kept alive for what is held for a retry', async () => {
    await stage.send(2);
    const waiting = await stage.mortal({ consumerName: 'waiting', retryDelaysMs: [FOREVER_MS] });
    await waiting.consumer.start(() => {
      throw new Error('not yet');
    });
    await waitFor(() => waiting.consumer.counters().errors === 2, 'the first attempts');
    const other = stage.consumer({ consumerName: 'other' });
    await other.start(() => undefined);
    await pass(2.5 * LEASE_MS);
    expect(other.counters()).toMatchObject({ takenOver: 0 });
    expect(await stage.consumers()).toMatchObject({ waiting: 2 });
  });

  it('is kept alive while the database is down, which uses up no attempt', async () => {
    await stage.send(2);
    const [isUp, attempts]: [Gate, number[]] = [new Gate(), []];
    let isDown = true;
    const paused = await stage.mortal({ consumerName: 'paused', retryDelaysMs: [] });
    await paused.consumer.start((messages) => {
      if (isDown) throw new DependencyUnavailableError('the database is down', { retryAfterMs: 20 });
      attempts.push(...messages.map(({ attempt }) => attempt));
      isUp.open();
    });
    await waitFor(() => paused.consumer.counters().batches > 2, 'the pauses');
    const other = stage.consumer({ consumerName: 'other' });
    await other.start(() => undefined);
    await pass(2.5 * LEASE_MS);
    expect(other.counters()).toMatchObject({ takenOver: 0 });
    isDown = false;
    await isUp.opened;
    await stage.nothingIsPending();
    expect(attempts).toEqual([1, 1]);
    expect(paused.consumer.counters()).toMatchObject({ handled: 2, errors: 0, deadLettered: 0 });
  });

  it('leaves messages with a handler that never returns, whose consumer was stopped', async () => {
    await stage.send(3);
    const stuck = await stage.mortal({ consumerName: 'stuck' });
    await stuck.consumer.start(never);
    await waitFor(() => stuck.consumer.counters().received === 3, 'the messages');
    const report = await stuck.consumer.stop({ deadlineMs: 50 });
    expect(report).toMatchObject({ drained: false, unfinished: 3 });
    const other = stage.consumer({ consumerName: 'other' });
    await other.start(() => undefined);
    await pass(2 * LEASE_MS);
    expect(other.counters()).toMatchObject({ takenOver: 0 });
    await stuck.die();
    await waitFor(() => other.counters().takenOver === 3, 'the takeover after its death');
  });
});

describe('a zombie', () => {
  /** A client whose shared connection is cut, so that leases are not renewed; the reads go on. */
  const cutOff = (client: RedisClient): RedisClient => ({
    ...client,
    send: (command, options) => client.send(command, options),
    sendMany: async (commands): Promise<CommandOutcome[]> =>
      commands.map(() => ({ state: 'error', error: new NotConnectedError('cut off by the test') })),
    openConnection: (options) => client.openConnection(options),
    subscribe: (channel, onMessage, options) => client.subscribe(channel, onMessage, options),
    close: () => client.close(),
  });

  it('acknowledges nothing that passed to another consumer, and counts it', async () => {
    await stage.send(4);
    const [zombieGate, heirGate] = [new Gate(), new Gate()];
    const zombie = stage.consumerOn(cutOff(stage.redis), { consumerName: 'zombie', batch: 4 });
    await zombie.start(() => zombieGate.opened);
    await waitFor(() => zombie.counters().received === 4, 'the zombie to take them');
    const heir = stage.consumer({ consumerName: 'heir', batch: 4 });
    await heir.start(() => heirGate.opened);
    await waitFor(() => heir.counters().takenOver === 4, 'the takeover');
    zombieGate.open();
    await waitFor(() => zombie.counters().fenced === 4, 'the fence');
    expect(await stage.consumers()).toMatchObject({ heir: 4, zombie: 0 });
    heirGate.open();
    await stage.nothingIsPending();
    expect(heir.counters()).toMatchObject({ handled: 4, fenced: 0 });
    // It is alive and well, and works on.
    await heir.stop();
    await stage.send(1);
    await waitFor(() => zombie.counters().handled === 5, 'the next message');
    await stage.nothingIsPending();
    expect(zombie.counters()).toMatchObject({ fenced: 4, inFlight: 0 });
  });

  it('counts what the other one has acknowledged before it came back', async () => {
    await stage.send(4);
    const held = new Gate();
    const zombie = stage.consumerOn(cutOff(stage.redis), { consumerName: 'zombie', batch: 4 });
    await zombie.start(() => held.opened);
    await waitFor(() => zombie.counters().received === 4, 'the zombie to take them');
    const heir = stage.consumer({ consumerName: 'heir', batch: 4 });
    await heir.start(() => undefined);
    await waitFor(
      async () => heir.counters().handled === 4 && (await stage.inspect()).pending === 0,
      'the heir',
    );
    held.open();
    await waitFor(() => zombie.counters().fenced === 4, 'the fence');
  });

  it('drops what it held for a retry when it finds out that it passed to another', async () => {
    await stage.send(3);
    const zombie = stage.consumer({ consumerName: 'zombie', batch: 3, retryDelaysMs: [FOREVER_MS] });
    await zombie.start(() => {
      throw new Error('not yet');
    });
    await waitFor(() => zombie.counters().errors === 3, 'the failures');
    const ids = await stage.entryIds();
    await stage.redis.send(['XCLAIM', stage.key, 'weir', 'thief', '0', ...ids]);
    await waitFor(() => zombie.counters().inFlight === 0, 'the zombie to let go');
    expect(await stage.consumers()).toMatchObject({ thief: 3 });
    expect(zombie.counters()).toMatchObject({ fenced: 0, deadLettered: 0 });
  });

  it('does not move what passed to another to the dead letters', async () => {
    await stage.send(1);
    const held = new Gate();
    const zombie = stage.consumerOn(cutOff(stage.redis), { consumerName: 'zombie', retryDelaysMs: [] });
    await zombie.start(async () => {
      await held.opened;
      throw new Error('too late');
    });
    await waitFor(() => zombie.counters().received === 1, 'the zombie to take it');
    const ids = await stage.entryIds();
    await stage.redis.send(['XCLAIM', stage.key, 'weir', 'heir', '0', ...ids]);
    held.open();
    await waitFor(() => zombie.counters().inFlight === 0, 'the zombie to let go');
    expect(zombie.counters()).toMatchObject({ deadLettered: 0, errors: 1 });
    expect(await stage.inspect()).toMatchObject({ pending: 1, deadLettered: 0 });
  });
});
