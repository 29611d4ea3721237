import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient, RedisConnection } from '@weir/patterns';
import { createPool, type Pool } from 'generic-pool';
import {
  CONNECTION_NAME,
  type ConnectionStrategy,
  PoolExhaustedError,
  type StrategyOptions,
} from './strategy.js';

/** A request that waits longer for a connection is answered with an error, in milliseconds. */
const ACQUIRE_TIMEOUT_MS = 5_000;
/** A PING that takes longer means that the connection is of no use, in milliseconds. */
const TEST_DEADLINE_MS = 1_000;
/** generic-pool tries again at once when a connection cannot be made: a Redis that is away would be knocked at in a loop. */
const PAUSE_AFTER_FAILURE_MS = 100;

/**
 * A fixed number of connections, each used by one request at a time: generic-pool, kept well. All connections are
 * opened at the start, so no request pays for a handshake; a broken one is replaced and not handed out again; waiting
 * is bounded, first come first served.
 *
 * Redis: the request's command; with `test`, a PING before (and after) each. Costs: connections x services on the
 * server, and requests wait for each other when all are in use. Gives: one request's slow reply holds up nobody else, and
 * WATCH and MULTI of one request stay apart from others.
 */
export const pool = {
  name: 'pool',
  summary: 'lends each request one of N connections for itself',
  capabilities: {
    pooled: true,
    shared: false,
    connectionsPerUse: 0,
    idleConnections: ({ poolSize }) => poolSize,
    pingsPerUse: ({ test }) => ({ never: 0, 'on-borrow': 1, 'on-borrow-and-return': 2 })[test],
  },
  async open(client, options) {
    const connections = await fill(client, options);
    return {
      async use(work) {
        const connection = await connections.acquire().catch((cause: unknown) => {
          throw new PoolExhaustedError({ cause });
        });
        try {
          return await work(connection);
        } finally {
          // generic-pool has an option testOnReturn and does nothing with it (3.9.0).
          const keep =
            options.test === 'on-borrow-and-return' ? await isAlive(connection) : connection.isConnected;
          await (keep ? connections.release(connection) : connections.destroy(connection));
        }
      },
      async close() {
        await connections.drain();
        await connections.clear();
      },
    };
  },
} satisfies ConnectionStrategy;

/** A pool of connections that are open already: what Redis refuses shows here, and not in the first requests. */
async function fill(
  client: RedisClient,
  { poolSize, test }: StrategyOptions,
): Promise<Pool<RedisConnection>> {
  const opened = await openAll(client, poolSize);
  return createPool(
    {
      create: async () => opened.pop() ?? (await replacement(client)),
      destroy: (connection) => connection.close(),
      validate: isAlive,
    },
    {
      min: poolSize,
      max: poolSize,
      testOnBorrow: test !== 'never',
      acquireTimeoutMillis: ACQUIRE_TIMEOUT_MS,
    },
  );
}

/** Opens all or none. */
async function openAll(client: RedisClient, count: number): Promise<RedisConnection[]> {
  const attempts = Array.from({ length: count }, () => client.openConnection({ name: CONNECTION_NAME }));
  const outcomes = await Promise.allSettled(attempts);
  const opened = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const refused = outcomes.find((outcome) => outcome.status === 'rejected');
  if (refused === undefined) return opened;
  await Promise.all(opened.map((connection) => connection.close()));
  throw refused.reason;
}

async function replacement(client: RedisClient): Promise<RedisConnection> {
  try {
    return await client.openConnection({ name: CONNECTION_NAME });
  } catch (error) {
    await delay(PAUSE_AFTER_FAILURE_MS);
    throw error;
  }
}

async function isAlive(connection: RedisConnection): Promise<boolean> {
  try {
    await connection.send(['PING'], { deadlineMs: TEST_DEADLINE_MS });
    return true;
  } catch {
    return false;
  }
}
