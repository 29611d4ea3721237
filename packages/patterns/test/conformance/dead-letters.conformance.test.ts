import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RedisClient } from '../../src/client/redis-client.js';
import { deadLetterFields, deadLettersOf } from '../../src/messaging/internal/dead-letters.js';
import type { Consumer, DeadLetters, Message } from '../../src/messaging/pattern.js';
import { TestRedis } from '../support/redis.js';
import { loadPatterns, messagingClientNames, type OpenClient, openClient } from '../support/variants.js';
import { waitFor } from '../support/wait-for.js';

/** Dead letters of every pattern that gives messages up: listed, sent again to the byte, removed. */
const patterns = (await loadPatterns()).filter(({ deadLetters }) => deadLetters !== undefined);
let server: TestRedis;
let keys = 0;

beforeAll(async () => {
  server = await TestRedis.start();
});
afterAll(() => server.stop());

describe.each(messagingClientNames)('over %s', (clientName) => {
  let opened: OpenClient;
  let redis: RedisClient;
  let key: string;

  beforeAll(async () => {
    opened = await openClient(clientName, server.url);
    redis = opened.redis;
  });
  afterAll(() => opened.close());
  beforeEach(() => {
    key = `dead:${clientName}:${++keys}`;
  });

  describe.each(patterns.map((pattern) => [pattern.name, pattern] as const))('%s', (_name, pattern) => {
    let running: Consumer | undefined;
    let poison: boolean;
    let seen: { readonly id: string; readonly body: Buffer; readonly attempt: number }[];
    let letters: DeadLetters;

    beforeEach(() => {
      running = undefined;
      poison = true;
      seen = [];
      const made = pattern.deadLetters?.(redis, { key });
      if (made === undefined) throw new Error('filtered above');
      letters = made;
    });
    afterEach(async () => {
      await running?.stop({ deadlineMs: 0 });
    });

    const start = async () => {
      const consumer = pattern.createConsumer(redis, { key, blockMs: 100, retryDelaysMs: [1] });
      running = consumer;
      await consumer.start((messages: readonly Message[]) => {
        if (poison) throw new Error('cannot be read: \u{1f4a3}');
        seen.push(...messages.map(({ id, body, attempt }) => ({ id, body: Buffer.from(body), attempt })));
      });
      return consumer;
    };
    const bodies = [Buffer.of(0xff, 0x00, 0x0a), Buffer.alloc(0), Buffer.from('\u{1f30a}')];

    it('lists what was given up, sends it again with id and body, once, and to the same handler', async () => {
      const consumer = await start();
      const producer = pattern.createProducer(redis, { key, producerId: 'sender' });
      await producer.send(bodies);
      await waitFor(() => consumer.counters().deadLettered === 3, 'the dead letters');
      const listed = await letters.list();
      const byId = listed.toSorted((a, b) => a.messageId.localeCompare(b.messageId));
      expect(byId.map(({ messageId }) => messageId)).toEqual(['sender-0', 'sender-1', 'sender-2']);
      expect(byId.map(({ body }) => body)).toEqual(bodies);
      for (const letter of listed) {
        expect(letter).toMatchObject({ reason: 'cannot be read: \u{1f4a3}', attempts: 2 });
        expect(Math.abs(letter.deadSinceMs - Date.now())).toBeLessThan(60_000);
      }

      poison = false;
      const ids = listed.map(({ id }) => id);
      expect(await letters.replay(ids)).toBe(3);
      expect(await letters.replay(ids)).toBe(0);
      await waitFor(() => seen.length === 3, 'the replayed');
      const again = seen.toSorted((a, b) => a.id.localeCompare(b.id));
      expect(again).toEqual(bodies.map((body, index) => ({ id: `sender-${index}`, body, attempt: 1 })));
      expect(await letters.list()).toEqual([]);
    });

    it('pages oldest first, and removes for good', async () => {
      const consumer = await start();
      await pattern.createProducer(redis, { key }).send(['a', 'b', 'c', 'd']);
      await waitFor(() => consumer.counters().deadLettered === 4, 'the dead letters');
      const all = (await letters.list()).map(({ id }) => id);
      const first = (await letters.list({ count: 3 })).map(({ id }) => id);
      const rest = (await letters.list({ after: first[2] ?? '' })).map(({ id }) => id);
      expect([...first, ...rest]).toEqual(all);
      expect(await letters.remove([...first, '1-1'])).toBe(3);
      expect((await letters.list()).map(({ id }) => id)).toEqual(rest);
      expect(await pattern.inspect(redis, { key })).toMatchObject({ deadLettered: 1 });
    });

    it('has nothing to list where nothing was given up, and refuses what cannot be', async () => {
      expect(await letters.list()).toEqual([]);
      expect(await letters.replay(['1-1'])).toBe(0);
      expect(await letters.remove([])).toBe(0);
      for (const count of [0, -1, 1.5, 10_001]) {
        await expect(letters.list({ count })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
      }
      await expect(letters.list({ after: 'x' })).rejects.toMatchObject({ code: 'INVALID_OPTION' });
      await expect(letters.replay(['-'])).rejects.toMatchObject({ code: 'INVALID_OPTION' });
      await expect(letters.remove(['*'])).rejects.toMatchObject({ code: 'INVALID_OPTION' });
    });

    it('leaves keys of other software alone, and loses no letter over one', async () => {
      const consumer = await start();
      await pattern.createProducer(redis, { key }).send(['a']);
      await waitFor(() => consumer.counters().deadLettered === 1, 'the dead letter');
      await consumer.stop();
      const ids = (await letters.list()).map(({ id }) => id);
      await redis.send(['DEL', key]);
      await redis.send(['SET', key, 'in the way']);
      await expect(letters.replay(ids)).rejects.toMatchObject({ code: 'FOREIGN_KEY' });
      expect(await letters.list()).toHaveLength(1);
      await redis.send(['SET', `${key}:dead`, 'in the way']);
      await expect(letters.list()).rejects.toMatchObject({ code: 'FOREIGN_KEY' });
      await expect(letters.replay(ids)).rejects.toMatchObject({ code: 'FOREIGN_KEY' });
      await expect(letters.remove(ids)).rejects.toMatchObject({ code: 'FOREIGN_KEY' });
      running = undefined;
    });
  });

  it('sends letters of a list pattern to the end that is taken last', async () => {
    const letters = deadLettersOf(redis, key, 'list');
    const given = { place: '1', error: new Error('no'), attempts: 3, raw: Buffer.of(0xff, 0) };
    const id = String(await redis.send(['XADD', `${key}:dead`, '*', ...deadLetterFields(given)]));
    await redis.send(['RPUSH', key, 'taken first']);
    expect(await letters.list()).toMatchObject([{ messageId: '1', body: given.raw, attempts: 3 }]);
    expect(await letters.replay([id])).toBe(1);
    expect(await redis.send(['LRANGE', key, '0', '-1'])).toEqual([given.raw, Buffer.from('taken first')]);
  });
});
