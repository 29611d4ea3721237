import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { clientLibraries, connectClient } from '../../src/redis/clients.js';
import { type RedisServer, startRedisServer } from '../../src/redis/redis-server.js';
import { loadStrategies } from '../../src/services/strategies/load-strategies.js';
import {
  CONNECTION_NAME,
  type ConnectionStrategy,
  type OpenStrategy,
  PoolExhaustedError,
  type StrategyOptions,
} from '../../src/services/strategies/strategy.js';
import { eventually } from '../support/condition.js';

/** One suite for every strategy and every client library: what a strategy declares is what Redis counts. */

let server: RedisServer;
let monitor: Awaited<ReturnType<typeof connectClient>>;
beforeAll(async () => {
  server = await startRedisServer();
  monitor = await connectClient('node-redis', server.url, { name: 'monitor' });
});
afterAll(async () => {
  await monitor.close();
  await server.stop();
});

const strategies = [...(await loadStrategies()).values()];
const cases = strategies.flatMap((strategy) =>
  clientLibraries.map(({ name: client }) => ({ name: strategy.name, strategy, client })),
);
const POOL_OF_3: StrategyOptions = { poolSize: 3, test: 'never' };

async function open(
  strategy: ConnectionStrategy,
  client: (typeof clientLibraries)[number]['name'],
  options = POOL_OF_3,
): Promise<OpenStrategy> {
  const connected = await connectClient(client, server.url, { name: 'app' });
  onTestFinished(() => connected.close());
  const opened = await strategy.open(connected.client, options);
  onTestFinished(() => opened.close());
  return opened;
}

/** Lines of CLIENT LIST of connections that a strategy opened. */
async function connectionsOpen(): Promise<string[]> {
  const list = String(await monitor.client.send(['CLIENT', 'LIST']));
  return list.split('\n').filter((line) => line.includes(`name=${CONNECTION_NAME} `));
}

async function countOf(section: string, field: RegExp): Promise<number> {
  return Number(field.exec(String(await monitor.client.send(['INFO', section])))?.[1] ?? 0);
}
const connectionsMade = (): Promise<number> => countOf('stats', /total_connections_received:(\d+)/);
const pings = (): Promise<number> => countOf('commandstats', /cmdstat_ping:calls=(\d+)/);

/** Connections of the test before have gone: a library may close behind its caller's back. */
async function noneIsLeft(): Promise<void> {
  await eventually('no connection of a strategy is left', async () => (await connectionsOpen()).length === 0);
}

describe.each(cases)('$name over $client', ({ strategy, client }) => {
  it('does the work of many requests at once', async () => {
    const opened = await open(strategy, client);
    const key = `work:${strategy.name}:${client}`;
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => opened.use((commands) => commands.send(['INCR', key]))),
    );
    expect(replies.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  it('keeps and makes as many connections as it declares, and closes them', async () => {
    await noneIsLeft();
    const opened = await open(strategy, client);
    expect(await connectionsOpen()).toHaveLength(strategy.capabilities.idleConnections(POOL_OF_3));
    const before = await connectionsMade();
    for (let use = 0; use < 5; use++) await opened.use((commands) => commands.send(['ECHO', 'x']));
    expect((await connectionsMade()) - before).toBe(5 * strategy.capabilities.connectionsPerUse);
    await opened.close();
    await noneIsLeft();
  });

  it('gives the connection back when the work fails', async () => {
    const opened = await open(strategy, client);
    for (let use = 0; use < 5; use++) {
      await expect(
        opened.use(async () => {
          throw new Error('the work failed');
        }),
      ).rejects.toThrow('the work failed');
    }
    expect(String(await opened.use((commands) => commands.send(['ECHO', 'still here'])))).toBe('still here');
  });
});

const tests = ['never', 'on-borrow', 'on-borrow-and-return'] as const;
const tested = strategies.flatMap((strategy) =>
  tests.map((test) => ({ name: strategy.name, strategy, test })),
);

describe.each(tested)('$name tested $test', ({ strategy, test }) => {
  it('sends as many PINGs as it declares', async () => {
    const options = { poolSize: 2, test };
    const opened = await open(strategy, 'node-redis', options);
    const before = await pings();
    for (let use = 0; use < 10; use++) await opened.use((commands) => commands.send(['ECHO', 'x']));
    expect((await pings()) - before).toBe(10 * strategy.capabilities.pingsPerUse(options));
  });
});

const pooled = strategies.filter(({ capabilities }) => capabilities.pooled);

describe.each(pooled)('$name', (strategy) => {
  it('lends a connection to one request at a time, first come first served', async () => {
    const opened = await open(strategy, 'node-redis', { poolSize: 1, test: 'never' });
    const order: number[] = [];
    let running = 0;
    await Promise.all(
      Array.from({ length: 6 }, (_, request) =>
        opened.use(async (commands) => {
          expect(++running).toBe(1);
          await commands.send(['ECHO', 'x']);
          order.push(request);
          running--;
        }),
      ),
    );
    expect(order).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('replaces connections that were killed', async () => {
    await noneIsLeft();
    const opened = await open(strategy, 'node-redis', { poolSize: 2, test: 'on-borrow' });
    for (const line of await connectionsOpen()) {
      const id = /^id=(\d+)/.exec(line)?.[1] ?? '';
      await monitor.client.send(['CLIENT', 'KILL', 'ID', id]);
    }
    const answer = await opened.use((commands) => commands.send(['ECHO', 'alive']));
    expect(String(answer)).toBe('alive');
    await eventually('the pool is full again', async () => (await connectionsOpen()).length === 2);
  });

  it('refuses a request that would wait too long', async () => {
    const opened = await open(strategy, 'node-redis', { poolSize: 1, test: 'never' });
    let free = (): void => undefined;
    const held = opened.use(() => new Promise<void>((resolve) => (free = resolve)));
    await expect(opened.use(async () => undefined)).rejects.toThrow(PoolExhaustedError);
    free();
    await held;
  });

  it('opens all connections or fails, and leaves none behind', async () => {
    await noneIsLeft();
    const { client } = monitor;
    await client.send(['CONFIG', 'SET', 'maxclients', '4']);
    onTestFinished(async () => {
      await client.send(['CONFIG', 'SET', 'maxclients', '10000']);
    });
    await expect(open(strategy, 'node-redis', { poolSize: 8, test: 'never' })).rejects.toThrow();
    await noneIsLeft();
  });
});
