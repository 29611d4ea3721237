import { join } from 'node:path';
import autocannon from 'autocannon';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RedisServer, startRedisServer } from '../../src/redis/redis-server.js';
import { eventually } from '../support/condition.js';
import { ask, type ServiceProcess, sandbox, serve } from '../support/service-process.js';

/** Nothing that was acknowledged is lost, whatever the load and whoever is asked to end. */

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedisServer();
});
afterAll(() => redis.stop());

/** Each test has keys of its own. */
let prefixes = 0;

interface Pair {
  readonly producer: ServiceProcess;
  readonly consumer: ServiceProcess;
  /** Starts the consumer again, as an operator would. */
  restartConsumer(): Promise<ServiceProcess>;
  /** Distinct bodies in the store. */
  stored(): number;
}

async function startPair(): Promise<Pair> {
  const folder = sandbox();
  const file = join(folder, 'messages.db');
  const shared = ['--redis', redis.url, '--key-prefix', `load-${prefixes++}:`];
  const startConsumer = () => serve(['consumer', ...shared, '--store', `sqlite:${file}`], folder);
  return {
    producer: await serve(['producer', ...shared], folder),
    consumer: await startConsumer(),
    restartConsumer: startConsumer,
    stored: () => {
      const database = new Database(file, { readonly: true });
      const row = database
        .prepare<[], { n: number }>('SELECT count(DISTINCT body) AS n FROM handled_message')
        .get();
      database.close();
      return row?.n ?? 0;
    },
  };
}

/** Posts distinct messages over many connections until told to stop; counts what was answered. */
function load(url: string, connections: number) {
  const counts = { ok: 0, refused: 0, broken: 0 };
  let next = 0;
  let ending = false;
  const post = async (): Promise<void> => {
    while (!ending) {
      try {
        const { status } = await ask('POST', url, `message ${next++}`);
        if (status === 200) counts.ok++;
        else counts.refused++;
      } catch {
        // The service is gone: neither acknowledged nor refused.
        counts.broken++;
        if (counts.broken > connections) return;
      }
    }
  };
  const ended = Promise.all(Array.from({ length: connections }, post));
  return {
    counts,
    end: async () => {
      ending = true;
      await ended;
    },
  };
}

describe('SIGTERM under load', () => {
  it.each(['queue', 'stream-group'])(
    'a producer that ends: what it acknowledged on %s is stored',
    async (pattern) => {
      const { producer, consumer, stored } = await startPair();
      await ask('POST', `${consumer.url}/${pattern}/start`);
      const sending = load(`${producer.url}/${pattern}/send`, 20);
      await eventually('load', () => sending.counts.ok > 200, 60_000);
      producer.kill('SIGTERM');
      expect(await producer.ended).toEqual({ code: 0, signal: null });
      await sending.end();
      const { totalMessages } = (await ask('POST', `${consumer.url}/${pattern}/stop`)).json();
      // A message whose answer broke off may have been stored; one that was acknowledged must be.
      expect(totalMessages).toBeGreaterThanOrEqual(sending.counts.ok);
      expect(totalMessages).toBeLessThanOrEqual(sending.counts.ok + sending.counts.broken);
      expect(stored()).toBe(totalMessages);
    },
  );

  it.each(['queue', 'stream-group'])(
    'a consumer that ends and starts again loses nothing on %s',
    async (pattern) => {
      const { producer, consumer, restartConsumer, stored } = await startPair();
      await ask('POST', `${consumer.url}/${pattern}/start`);
      const sending = load(`${producer.url}/${pattern}/send`, 20);
      await eventually('load', () => stored() > 100, 60_000);
      consumer.kill('SIGTERM');
      expect(await consumer.ended).toEqual({ code: 0, signal: null });
      const again = await restartConsumer();
      await ask('POST', `${again.url}/${pattern}/start`);
      await sending.end();
      expect((await ask('POST', `${again.url}/${pattern}/stop`)).json()).toMatchObject({
        drained: true,
        unfinished: 0,
      });
      expect(sending.counts).toMatchObject({ refused: 0, broken: 0 });
      expect(stored()).toBe(sending.counts.ok);
      // The run that SIGTERM ended left its result as well.
      const results = JSON.parse((await ask('GET', `${again.url}/${pattern}/results`)).text);
      expect(results).toHaveLength(2);
    },
  );
});

/** At 10 ms and two requests each, about a second. */
const QUIET_POLLS = 50;

it('1,000 connections for 20 s: no 5xx, and what was acknowledged is stored', async () => {
  const { producer, consumer } = await startPair();
  await ask('POST', `${consumer.url}/stream-group/start`);
  const result = await autocannon({
    url: `${producer.url}/stream-group/send`,
    method: 'POST',
    body: 'hello',
    connections: 1_000,
    duration: 20,
    timeout: 60,
  });
  expect(result).toMatchObject({ '5xx': 0, non2xx: 0, errors: 0 });
  const figure = async (name: string): Promise<number> => {
    const line = new RegExp(`^${name}\\{pattern="stream-group"[^}]*\\} (\\d+)$`, 'm');
    return Number(line.exec((await ask('GET', `${producer.url}/metrics`)).text)?.[1]);
  };
  // Requests whose connection was closed at the end of the load are carried out all the same, and many still wait in
  // the sockets: it is over when the count has stood still for many polls.
  let acknowledged = 0;
  let polls = 0;
  await eventually(
    'everything acknowledged is handled, and nothing more comes',
    async () => {
      const before = acknowledged;
      acknowledged = await figure('weir_producer_messages_total');
      const handled = (await ask('GET', `${consumer.url}/stream-group/stats`)).json().totalMessages;
      const isQuiet = handled === acknowledged && (await figure('weir_producer_in_flight')) === 0;
      polls = isQuiet && acknowledged === before ? polls + 1 : 0;
      return polls >= QUIET_POLLS;
    },
    60_000,
  );
  expect(acknowledged).toBeGreaterThanOrEqual(result['2xx']);
  const stopped = (await ask('POST', `${consumer.url}/stream-group/stop`)).json();
  expect(stopped).toMatchObject({ totalMessages: acknowledged, stored: acknowledged, drained: true });
  expect(await figure('weir_producer_messages_total')).toBe(acknowledged);
});
