import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CommandOutcome, RedisClient, RedisCommand } from '../../src/client/redis-client.js';
import { pipeline } from '../../src/pipelining/pipeline.js';
import { TestRedis } from '../support/redis.js';
import { clientNames, type OpenClient, openClient } from '../support/variants.js';

/** What a pipeline promises, over every client adapter, on a real server. */
let server: TestRedis;
let keys = 0;

beforeAll(async () => {
  server = await TestRedis.start();
});
afterAll(() => server.stop());

describe.each(clientNames)('over %s', (clientName) => {
  let opened: OpenClient;
  let redis: RedisClient;
  let key: string;
  /** Commands in each write, as the adapter saw them. */
  let chunks: number[];

  beforeAll(async () => {
    opened = await openClient(clientName, server.url);
    redis = opened.redis;
  });
  afterAll(() => opened.close());
  beforeEach(() => {
    key = `pipeline:${++keys}`;
    chunks = [];
  });

  const watched: Pick<RedisClient, 'sendMany'> = {
    sendMany: (commands, options) => {
      chunks.push(commands.length);
      return redis.sendMany(commands, options);
    },
  };
  const replies = (outcomes: readonly CommandOutcome[]) =>
    outcomes.map((outcome) => (outcome.state === 'ok' ? outcome.reply : outcome.state));
  const increments = (count: number): RedisCommand[] => Array.from({ length: count }, () => ['INCR', key]);
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

  it('sends nothing for nothing', async () => {
    expect(await pipeline(watched).send([])).toEqual([]);
    expect(chunks).toEqual([]);
  });

  it('keeps 10,000 answers in the order of the commands, over many chunks', async () => {
    const outcomes = await pipeline(watched, { maxCommandsPerChunk: 300 }).send(increments(10_000));
    expect(replies(outcomes)).toEqual(upTo(10_000));
    expect(Math.max(...chunks)).toBe(300);
    expect(chunks).toHaveLength(34);
  });

  it('keeps the order within each of several calls at once', async () => {
    const pipe = pipeline(redis, { maxCommandsPerChunk: 10, maxChunksInFlight: 3 });
    const lists = ['a', 'b', 'c'].map((name) => `${key}:${name}`);
    await Promise.all(lists.map((list) => pipe.send(upTo(100).map((n) => ['RPUSH', list, String(n)]))));
    for (const list of lists) {
      expect(String(await redis.send(['LRANGE', list, '0', '-1']))).toBe(upTo(100).join(','));
    }
  });

  it('puts each error in its place and hides no other answer', async () => {
    const outcomes = await pipeline(redis, { maxCommandsPerChunk: 2 }).send([
      ['SET', key, 'text'],
      ['LPUSH', key, 'wrong type'],
      ['NOSUCHCOMMAND'],
      ['GET', key],
      ['GET'],
      ['STRLEN', key],
    ]);
    expect(outcomes.map(({ state }) => state)).toEqual(['ok', 'error', 'error', 'ok', 'error', 'ok']);
    expect(outcomes[1]).toMatchObject({ error: { code: 'REDIS_REPLY', kind: 'WRONGTYPE' } });
    expect(outcomes[3]).toEqual({ state: 'ok', reply: Buffer.from('text') });
    expect(outcomes[5]).toEqual({ state: 'ok', reply: 4 });
  });

  it('cuts by bytes as well, and brings binary bodies back as they were', async () => {
    const bodies = [
      Buffer.alloc(0),
      Buffer.from([0xff, 0x00, 0x0d, 0x0a]),
      Buffer.alloc(900_000, 0x80),
      Buffer.from('😀'),
    ];
    const commands: RedisCommand[] = Array.from({ length: 5 }, () => bodies)
      .flat()
      .flatMap((body, index) => [
        ['SET', `${key}:${index}`, body],
        ['GET', `${key}:${index}`],
      ]);
    const outcomes = await pipeline(watched, { maxBytesPerChunk: 1_000_000 }).send(commands);
    expect(outcomes).toHaveLength(40);
    const identical = outcomes.map((outcome, index) => {
      const body = bodies[Math.floor(index / 2) % bodies.length];
      if (outcome.state !== 'ok' || body === undefined) return false;
      return index % 2 === 0
        ? outcome.reply === 'OK'
        : Buffer.isBuffer(outcome.reply) && outcome.reply.equals(body);
    });
    expect(identical).not.toContain(false);
    expect(chunks.length).toBeGreaterThan(4);
    expect(chunks.reduce((sum, count) => sum + count, 0)).toBe(40);
  });

  it('makes a chunk of its own for a command larger than a chunk may be', async () => {
    const large: RedisCommand = ['SET', key, Buffer.alloc(2_000)];
    await pipeline(watched, { maxBytesPerChunk: 1_000 }).send([['PING'], large, ['PING'], ['PING']]);
    expect(chunks).toEqual([1, 1, 2]);
  });

  it('takes from a source no faster than Redis answers', async () => {
    let taken = 0;
    let answered = 0;
    let furthest = 0;
    async function* source(): AsyncGenerator<RedisCommand> {
      for (; taken < 5_000; taken++) {
        furthest = Math.max(furthest, taken - answered);
        yield ['INCR', key];
      }
    }
    const seen: unknown[] = [];
    const pipe = pipeline(redis, { maxCommandsPerChunk: 100, maxChunksInFlight: 3 });
    for await (const outcome of pipe.stream(source())) {
      answered++;
      seen.push(...replies([outcome]));
    }
    expect(seen).toEqual(upTo(5_000));
    expect(furthest).toBeLessThanOrEqual(3 * 100 + 1);
  });

  it('says unknown for what was under way when the connection broke, and never rejects', async () => {
    const own = await TestRedis.start();
    const other = await openClient(clientName, own.url);
    const connection = await other.redis.openConnection({ name: 'pipeline' });
    try {
      const pipe = pipeline(connection, { maxCommandsPerChunk: 100, maxChunksInFlight: 1 });
      own.freeze();
      const sending = pipe.send(increments(300));
      await own.kill();
      const outcomes = await sending;
      expect(outcomes).toHaveLength(300);
      expect(new Set(outcomes.slice(0, 100).map(({ state }) => state))).toEqual(new Set(['unknown']));
      expect(outcomes.filter(({ state }) => state === 'ok')).toEqual([]);
    } finally {
      await connection.close();
      await other.close();
      await own.stop();
    }
  });

  it('says unknown when the deadline passes', async () => {
    const connection = await redis.openConnection({ name: 'pipeline' });
    const outcomes = await pipeline(connection, { deadlineMs: 100 }).send([['BLPOP', key, '1']]);
    expect(outcomes).toMatchObject([{ state: 'unknown', error: { code: 'UNKNOWN_OUTCOME' } }]);
    await connection.close();
  });
});

it.each(['maxCommandsPerChunk', 'maxBytesPerChunk', 'maxChunksInFlight'])(
  'refuses %s of 0 and 1.5',
  (option) => {
    const nowhere = { sendMany: async () => [] };
    for (const value of [0, 1.5]) {
      expect(() => pipeline(nowhere, { [option]: value })).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTION' }),
      );
    }
  },
);
