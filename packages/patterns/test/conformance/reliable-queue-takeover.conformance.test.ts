import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RedisClient } from '../../src/client/redis-client.js';
import {
  type Consumer,
  type ConsumerOptions,
  DependencyUnavailableError,
} from '../../src/messaging/pattern.js';
import { reliableQueue } from '../../src/messaging/reliable-queue.js';
import { Collector, numbered, range } from '../support/collector.js';
import { Gate } from '../support/gate.js';
import { TestRedis } from '../support/redis.js';
import { type OpenClient, openClient } from '../support/variants.js';
import { waitFor } from '../support/wait-for.js';

/**
 * Leases of `reliable-queue`: who takes what over from whom, and what a consumer that comes too late may still do.
 *
 * A dead consumer is one whose client is closed under a handler that never returns. A zombie is one whose lease runs
 * out under its handler; here its lease is set to have run out, since a consumer that can renew it does.
 */
const LEASE_MS = 300;
const LONG_LEASE_MS = 60_000;
let server: TestRedis;
let shared: OpenClient;
let redis: RedisClient;
let key: string;
let keys = 0;
let running: Consumer[];
let clients: OpenClient[];

beforeAll(async () => {
  server = await TestRedis.start();
  shared = await openClient('node-redis', server.url);
  redis = shared.redis;
});
afterAll(async () => {
  await shared.close();
  await server.stop();
});
beforeEach(() => {
  key = `takeover:${++keys}`;
  running = [];
  clients = [];
});
afterEach(async () => {
  await Promise.all(running.map((consumer) => consumer.stop({ deadlineMs: 0 }).catch(() => undefined)));
  await Promise.all(clients.map((client) => client.close()));
});

const consumer = (options: ConsumerOptions, client = redis) => {
  const created = reliableQueue.createConsumer(client, { key, blockMs: 100, leaseMs: LEASE_MS, ...options });
  running.push(created);
  return created;
};
const send = (count: number) =>
  reliableQueue.createProducer(redis, { key, producerId: 'p' }).send(numbered(count));
const state = () => reliableQueue.inspect(redis, { key });
const expiryOf = async (name: string) =>
  Number(await redis.send(['ZSCORE', `${key}:leases`, `weir:${name}`]));
const runOut = (name: string) => redis.send(['ZADD', `${key}:leases`, '1', `weir:${name}`]);

/** Takes up to `batch` messages, and dies with the first ones it gets. */
async function dieWith(batch: number, consumerName: string): Promise<number> {
  const client = await openClient('node-redis', server.url);
  clients.push(client);
  const victim = reliableQueue.createConsumer(client.redis, {
    ...{ key, batch, consumerName, blockMs: 100, leaseMs: LEASE_MS },
  });
  let taken = 0;
  await victim.start((messages) => {
    taken = messages.length;
    return new Promise(() => undefined);
  });
  await waitFor(() => taken > 0, 'messages to be taken');
  await client.close();
  return taken;
}

describe('a consumer that is gone', () => {
  it('loses nothing: when its lease has run out another one gets what it held, in order, as a second attempt', async () => {
    await send(10);
    expect(await dieWith(4, 'dead')).toBe(4);
    const collector = new Collector();
    const heir = consumer({ consumerName: 'heir', batch: 3 });
    await heir.start(collector.handler());
    await collector.waitFor(10);
    await waitFor(async () => (await state()).pending === 0, 'the last batch to be removed');
    const inherited = collector.seen.filter(({ attempt }) => attempt === 2).map(({ sequence }) => sequence);
    expect(inherited).toEqual(range(4));
    expect(collector.seen).toHaveLength(10);
    expect(heir.counters()).toMatchObject({ takenOver: 4, handled: 10, fenced: 0, retries: 4 });
    expect(await expiryOf('dead')).toBe(0);
    expect((await state()).keys).toEqual([`${key}:leases`]);
  });

  it('gives its work back at once when it comes back under its name, before anything new', async () => {
    await send(3);
    await dieWith(2, 'same');
    const collector = new Collector();
    const again = consumer({ consumerName: 'same', leaseMs: LONG_LEASE_MS });
    await again.start(collector.handler());
    await collector.waitFor(3);
    expect(collector.seen.map(({ sequence, attempt }) => [sequence, attempt]).sort()).toEqual([
      [0, 2],
      [1, 2],
      [2, 1],
    ]);
    expect(again.counters()).toMatchObject({ takenOver: 0 });
  });

  it('is to blame for one message only: that ends in the dead letters, its neighbours are handled', async () => {
    await send(5);
    const handled: number[] = [];
    /** A process that dies over message 2, again and again. */
    const live = async () => {
      const process = consumer({ batch: 5, retryDelaysMs: [1, 1], leaseMs: LONG_LEASE_MS });
      let died = false;
      await process.start((messages) => {
        if (messages.some(({ sequence }) => sequence === 2)) {
          died = true;
          return new Promise(() => undefined);
        }
        handled.push(...messages.map(({ sequence }) => sequence));
      });
      await waitFor(() => died || process.counters().deadLettered === 1, 'death or giving up');
      return (await process.stop({ deadlineMs: died ? 0 : 5000 })).counters;
    };
    for (let lives = 1; lives <= 3; lives++) expect((await live()).deadLettered).toBe(0);
    expect(await live()).toMatchObject({ deadLettered: 1 });
    expect(handled).toEqual([0, 1, 3, 4]);
    expect(await state()).toMatchObject({ unread: 0, pending: 0, deadLettered: 1, keys: [`${key}:dead`] });
  });
});

describe('a lease', () => {
  it('is kept while a handler works longer than it lasts, and while a database is away', async () => {
    await send(4);
    const gate = new Gate();
    const collector = new Collector();
    let refusals = 0;
    const slow = consumer({ consumerName: 'slow', batch: 2 });
    await slow.start(
      collector.handler(async () => {
        await gate.opened;
        if (refusals++ < 5) throw new DependencyUnavailableError('down', { retryAfterMs: LEASE_MS / 4 });
      }),
    );
    await waitFor(() => slow.counters().inFlight === 2, 'the first batch');
    const greedy = new Collector();
    const other = consumer({ consumerName: 'other', batch: 2 });
    await other.start(greedy.handler());
    await greedy.waitFor(2);
    const first = await expiryOf('slow');
    // Renewed until twice as late: meanwhile the lease of then has run out, and the other one has looked.
    await waitFor(async () => (await expiryOf('slow')) > first + 2 * LEASE_MS, 'renewals');
    gate.open();
    await collector.waitFor(2);
    expect(refusals).toBe(6);
    expect(collector.seen.map(({ attempt }) => attempt)).toEqual([1, 1]);
    await waitFor(async () => (await state()).pending === 0, 'both to be removed');
    expect(slow.counters()).toMatchObject({ fenced: 0, handled: 2, errors: 0, received: 2 });
    expect(other.counters()).toMatchObject({ takenOver: 0, handled: 2 });
  });

  it('that has run out fences its holder: what another one works on cannot be removed by a zombie', async () => {
    await send(3);
    const [ofZombie, ofHeir] = [new Gate(), new Gate()];
    const zombie = consumer({ consumerName: 'zombie', leaseMs: LONG_LEASE_MS });
    await zombie.start(() => ofZombie.opened);
    await waitFor(() => zombie.counters().inFlight === 3, 'the zombie to begin');
    const collector = new Collector();
    const heir = consumer({ consumerName: 'heir' });
    await heir.start(collector.handler(() => ofHeir.opened));
    await runOut('zombie');
    await waitFor(() => heir.counters().inFlight === 3, 'the takeover');
    ofZombie.open();
    await waitFor(() => zombie.counters().fenced === 3, 'the zombie to come too late');
    expect(await state()).toMatchObject({ pending: 3, unread: 0 });
    ofHeir.open();
    await collector.waitFor(3);
    await waitFor(async () => (await state()).pending === 0, 'the heir to finish');
    expect(heir.counters()).toMatchObject({ takenOver: 3, handled: 3, fenced: 0 });
    // It lives again, and holds a lease again.
    await waitFor(async () => (await expiryOf('zombie')) > 1, 'a new lease');
  });

  it('that has run out fences retries and dead letters as well', async () => {
    await send(2);
    const zombie = consumer({ consumerName: 'zombie', leaseMs: LONG_LEASE_MS, retryDelaysMs: [1] });
    const [gate, ofZombie] = [new Gate(), new Gate()];
    await zombie.start(async ([message]) => {
      // The other one waits for its second attempt meanwhile.
      if (message?.attempt === 2) await ofZombie.opened;
      throw new Error('fails');
    });
    await waitFor(() => zombie.counters().retries === 1, 'the first retry');
    const heir = consumer({ consumerName: 'heir' });
    await heir.start(() => gate.opened);
    await runOut('zombie');
    await waitFor(() => heir.counters().inFlight === 2, 'the takeover');
    ofZombie.open();
    await waitFor(() => zombie.counters().fenced === 2, 'the zombie to give up');
    gate.open();
    await waitFor(async () => (await state()).pending === 0, 'the heir to finish');
    expect(zombie.counters()).toMatchObject({ deadLettered: 0, inFlight: 0 });
    expect(await state()).toMatchObject({ deadLettered: 0, unread: 0 });
  });

  it('of a silent consumer is taken once, however many look', async () => {
    await send(40);
    const taken = await dieWith(20, 'dead');
    const heirs = range(4).map((index) => consumer({ consumerName: `heir-${index}`, batch: 5 }));
    const collectors = heirs.map(() => new Collector());
    await Promise.all(
      heirs.map((heir, index) => heir.start(collectors[index]?.handler() ?? (() => undefined))),
    );
    const seen = () => collectors.flatMap((collector) => collector.sequences);
    await waitFor(() => seen().length >= 40, 'everything');
    await waitFor(async () => (await state()).pending === 0, 'everything to be removed');
    expect(seen().sort((a, b) => a - b)).toEqual(range(40));
    expect(heirs.reduce((sum, heir) => sum + heir.counters().takenOver, 0)).toBe(taken);
  });
});

describe('names', () => {
  it('leave nothing behind: 1,000 restarts under ten names', async () => {
    await send(1000);
    let handled = 0;
    await Promise.all(
      range(10).map(async (name) => {
        const restarted = consumer({ consumerName: `name-${name}`, batch: 1, leaseMs: LONG_LEASE_MS });
        for (let starts = 0; starts < 100; starts++) {
          await restarted.start(() => void handled++);
          await restarted.stop();
        }
      }),
    );
    const left = await state();
    expect(handled + left.unread).toBe(1000);
    expect(left.pending).toBe(0);
    expect(await redis.send(['KEYS', `${key}:*`])).toEqual([]);
  });

  it('are told apart by their group, which shares the queue with the others', async () => {
    await send(2);
    const gate = new Gate();
    const groups = ['one', 'other'].map((group) => consumer({ group, batch: 1 }));
    await Promise.all(groups.map((started) => started.start(() => gate.opened)));
    await waitFor(() => groups.every((started) => started.counters().inFlight === 1), 'one each');
    expect((await state()).keys.filter((name) => name.includes(':processing:')).sort()).toEqual([
      `${key}:processing:one:consumer-1`,
      `${key}:processing:other:consumer-1`,
    ]);
    gate.open();
  });
});
