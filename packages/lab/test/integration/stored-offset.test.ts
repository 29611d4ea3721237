import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { streamXread } from '@weir/patterns/messaging/stream-xread';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectClient } from '../../src/redis/clients.js';
import { type RedisServer, startRedisServer } from '../../src/redis/redis-server.js';
import { startConsumerService } from '../../src/services/start-service.js';
import { resolveStore } from '../../src/stores/load-stores.js';
import { ask } from '../support/service-process.js';
import { storeFixtures } from '../support/store-fixtures.js';

/** Offsets with a database behind the handler. */
let redis: RedisServer;
let connection: Awaited<ReturnType<typeof connectClient>>;

beforeAll(async () => {
  redis = await startRedisServer();
  connection = await connectClient('node-redis', redis.url, { name: 'test' });
});
afterAll(async () => {
  await connection.close();
  await redis.stop();
});

const send = (key: string, bodies: readonly string[]) =>
  streamXread.createProducer(connection.client, { key }).send(bodies);

async function sqliteFixture() {
  const make = storeFixtures.sqlite;
  if (make === undefined) throw new Error('there is no fixture for sqlite');
  return make();
}

const POINTS = ['before-save', 'in-transaction', 'after-commit', 'after-handler'];
const CONSUMER = new URL('../support/offset-consumer.mjs', import.meta.url).pathname;

it('has each effect once when its consumer is killed at every point, again and again', async () => {
  const fixture = await sqliteFixture();
  const key = 'killed';
  const total = 120;
  await send(
    key,
    Array.from({ length: total }, (_, index) => `body ${index}`),
  );
  const receipts: string[] = [];
  /** @returns the signal that ended it */
  const live = async (point: string, nth: number): Promise<unknown> => {
    const child = spawn(process.execPath, [CONSUMER, fixture.address, redis.url, key, point, String(nth)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const [, signal] = await once(child, 'close');
    receipts.push(...output.split('\n').filter((line) => line !== ''));
    return signal;
  };
  // The second save of a life is one of a batch, or of a message alone where a batch was rolled back before.
  for (const nth of [1, 2]) {
    for (const point of POINTS) expect(await live(point, nth), `${point} ${nth}`).toBe('SIGKILL');
  }
  expect(await live('none', 0)).toBeNull();

  const bodies = [...(await fixture.bodies()).values()].map(String);
  expect(new Set(bodies)).toEqual(new Set(Array.from({ length: total }, (_, index) => `body ${index}`)));
  expect(bodies).toHaveLength(total);
  // The store would drop repeats by their ids; that it had none to drop is what the offset is for.
  expect(receipts.map((receipt) => receipt.split(' ')[1])).toEqual(receipts.map(() => '0'));
  expect(receipts.length).toBeGreaterThan(20);
  await fixture.remove();
});

it.each([
  { offset: 'memory', goesOn: false },
  { offset: 'redis', goesOn: true },
  { offset: 'store', goesOn: true },
] as const)(
  'weir serve consumer --offset $offset: a start goes on where the last ended: $goesOn',
  async (way) => {
    const fixture = await sqliteFixture();
    const keyPrefix = `${way.offset}:`;
    const key = keyPrefix + streamXread.defaultKey;
    const service = await startConsumerService({
      ...{ host: '127.0.0.1', port: 0, token: undefined, bodyLimitBytes: 1024, requestsPerSecond: undefined },
      ...{ redisUrl: redis.url, client: 'node-redis', keyPrefix, log: undefined },
      ...{ store: fixture.address, consumerName: 'one', drainDeadlineMs: 10_000, shutdownDeadlineMs: 5_000 },
      offset: way.offset,
    });
    const at = `${service.url}/stream-xread`;
    await ask('POST', `${at}/start`);
    await send(key, ['first']);
    expect((await ask('POST', `${at}/stop`)).json()).toMatchObject({ stored: 1 });
    await send(key, ['while it is stopped', 'and another']);
    await ask('POST', `${at}/start`);
    await send(key, ['last']);
    const stopped = (await ask('POST', `${at}/stop`)).json();
    expect(stopped).toMatchObject({ stored: way.goesOn ? 3 : 1, duplicates: 0 });
    expect(await connection.client.send(['EXISTS', `${key}:offsets`])).toBe(way.offset === 'redis' ? 1 : 0);
    const store = await (await resolveStore(fixture.address)).open(fixture.address);
    expect((await store.loadOffset(`${key}:one`)) !== undefined).toBe(way.offset === 'store');
    await store.close();
    await service.close(5_000);
    await fixture.remove();
  },
);
