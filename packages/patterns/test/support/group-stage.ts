import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import type { RedisClient, RedisReply } from '../../src/client/redis-client.js';
import type {
  Consumer,
  ConsumerOptions,
  PatternState,
  ProducerOptions,
} from '../../src/messaging/pattern.js';
import { streamGroup } from '../../src/messaging/stream-group.js';
import { numbered } from './collector.js';
import { TestRedis } from './redis.js';
import { type OpenClient, openClient } from './variants.js';
import { waitFor } from './wait-for.js';

/** Short, so that a test can wait for its end; long enough for a machine that is busy. */
export const LEASE_MS = 300;
export const FOREVER_MS = 600_000;
const CLIENT = 'node-redis';

/** A consumer in a process of its own, as far as Redis can tell: it dies when its client is closed. */
export interface Mortal {
  readonly consumer: Consumer;
  die(): Promise<void>;
}

/** A server, a key of its own for every test, and consumers of stream-group that are gone when the test ends. */
export class GroupStage {
  key = '';
  #server: TestRedis | undefined;
  #opened: OpenClient | undefined;
  #keys = 0;
  #clients: OpenClient[] = [];
  #running: Consumer[] = [];

  /** @param options of redis-server */
  constructor(...options: string[]) {
    beforeAll(async () => {
      this.#server = await TestRedis.start(...options);
      this.#opened = await openClient(CLIENT, this.#server.url);
    });
    afterAll(async () => {
      await this.#opened?.close();
      await this.#server?.stop();
    });
    beforeEach(() => {
      this.key = `group:${++this.#keys}`;
    });
    afterEach(async () => {
      const running = this.#running.splice(0);
      await Promise.all(running.map((consumer) => consumer.stop({ deadlineMs: 0 }).catch(() => undefined)));
      // What died in the test is closed twice, which does no harm.
      await Promise.all(this.#clients.splice(0).map((client) => client.close().catch(() => undefined)));
    });
  }

  get server(): TestRedis {
    if (this.#server === undefined) throw new Error('the server is started before the first test');
    return this.#server;
  }

  get redis(): RedisClient {
    if (this.#opened === undefined) throw new Error('the client is opened before the first test');
    return this.#opened.redis;
  }

  consumer(options: ConsumerOptions = {}): Consumer {
    return this.consumerOn(this.redis, options);
  }

  consumerOn(client: RedisClient, options: ConsumerOptions = {}): Consumer {
    const defaults = { key: this.key, blockMs: 50, leaseMs: LEASE_MS, from: 'beginning' } as const;
    const consumer = streamGroup.createConsumer(client, { ...defaults, ...options });
    this.#running.push(consumer);
    return consumer;
  }

  async mortal(options: ConsumerOptions = {}): Promise<Mortal> {
    const client = await openClient(CLIENT, this.server.url);
    this.#clients.push(client);
    return { consumer: this.consumerOn(client.redis, options), die: () => client.close() };
  }

  /** A consumer that takes so many messages in one batch and dies over them. */
  async dieWith(count: number, consumerName: string): Promise<void> {
    const victim = await this.mortal({ consumerName, batch: count, leaseMs: FOREVER_MS });
    await victim.consumer.start(never);
    await waitFor(() => victim.consumer.counters().received === count, 'the victim to take them');
    await victim.die();
  }

  async send(count: number, options: ProducerOptions = {}): Promise<void> {
    await streamGroup.createProducer(this.redis, { key: this.key, ...options }).send(numbered(count));
  }

  inspect(): Promise<PatternState> {
    return streamGroup.inspect(this.redis, { key: this.key });
  }

  async nothingIsPending(): Promise<void> {
    await waitFor(async () => (await this.inspect()).pending === 0, 'nothing to be pending');
  }

  /** The consumers of the group, and how many entries each has pending. */
  async consumers(): Promise<Record<string, number>> {
    const reply = await this.redis.send(['XINFO', 'CONSUMERS', this.key, 'weir']);
    return Object.fromEntries(rows(reply).map((row) => [String(row[1]), Number(row[3])]));
  }

  /** Of the pending entries, in milliseconds. */
  async idleTimes(): Promise<number[]> {
    const reply = await this.redis.send(['XPENDING', this.key, 'weir', '-', '+', '1000']);
    return rows(reply).map((row) => Number(row[2]));
  }

  async entryIds(): Promise<string[]> {
    return rows(await this.redis.send(['XRANGE', this.key, '-', '+'])).map((row) => String(row[0]));
  }
}

function rows(reply: RedisReply): RedisReply[][] {
  return Array.isArray(reply) ? reply.filter((row) => Array.isArray(row)) : [];
}

/** A handler that takes its messages and never comes back. */
export const never = () => new Promise<never>(() => undefined);

/** Lets a handler wait until the test lets it go. */
export class Gate {
  open: () => void = () => undefined;
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve;
  });
}

/** Waits for a time to pass that means something to the server: a lease. */
export async function pass(ms: number): Promise<void> {
  const until = performance.now() + ms;
  await waitFor(() => performance.now() >= until, `${ms} ms to pass`);
}
