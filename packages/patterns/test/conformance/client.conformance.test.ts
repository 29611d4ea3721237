import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RedisClient } from '../../src/client/redis-client.js';
import { NotConnectedError, RedisReplyError, UnknownOutcomeError } from '../../src/errors.js';
import { TestRedis } from '../support/redis.js';
import { clientNames, limitsOf, type OpenClient, openClient } from '../support/variants.js';
import { waitFor } from '../support/wait-for.js';

/** What every client adapter promises, over both protocol versions, on a real server of its own. */
describe.each(clientNames.flatMap((name) => [[name, 2] as const, [name, 3] as const]))(
  '%s over RESP%i',
  (clientName, protocol) => {
    let server: TestRedis;
    let opened: OpenClient;
    let redis: RedisClient;
    let keys = 0;

    beforeAll(async () => {
      server = await TestRedis.start();
      opened = await openClient(clientName, server.url, protocol);
      redis = opened.redis;
    });
    afterAll(async () => {
      await opened.close();
      await server.stop();
    });
    const newKey = () => `client:${++keys}`;
    const connectionIds = async (name: string) => {
      const list = String(await redis.send(['CLIENT', 'LIST']));
      return list
        .split('\n')
        .filter((line) => line.includes(`name=${name} `))
        .map((line) => /\bid=(\d+)/.exec(line)?.[1] ?? '');
    };

    /** Some libraries name a connection after they say that it is ready. */
    const connectionId = async (name: string) => {
      await waitFor(async () => (await connectionIds(name)).length > 0, `a connection named ${name}`);
      return (await connectionIds(name))[0] ?? '';
    };

    it('says which library carries it', () => {
      expect(redis.library).toBe(clientName);
    });

    it('hands over strings as bytes, statuses as text, nil as null, integers as numbers', async () => {
      const key = newKey();
      const bytes = Buffer.of(0xff, 0x00, 0x0d, 0x0a);
      expect(await redis.send(['SET', key, bytes])).toBe('OK');
      expect(await redis.send(['GET', key])).toEqual(bytes);
      expect(await redis.send(['SET', key, new Uint8Array([1, 2])])).toBe('OK');
      expect(await redis.send(['GET', key])).toEqual(Buffer.of(1, 2));
      expect(await redis.send(['GET', newKey()])).toBeNull();
      expect(await redis.send(['STRLEN', key])).toBe(2);
      expect(await redis.send(['TYPE', key])).toBe('string');
      expect(await redis.send(['EXISTS', newKey()])).toBe(0);
    });

    it('does not take a body of digits or of "OK" for anything but bytes', async () => {
      const key = newKey();
      await redis.send(['RPUSH', key, '12', 'OK', '']);
      const expected = ['12', 'OK', ''].map((text) => Buffer.from(text));
      expect(await redis.send(['LRANGE', key, '0', '-1'])).toEqual(expected);
      expect(await redis.send(['LPOP', key])).toEqual(expected[0]);
    });

    it('keeps integers beyond 2^53 exact, or refuses to hand over a rounded one', async () => {
      const key = newKey();
      const connection = await redis.openConnection({ name: 'integers' });
      for (const sender of [redis, connection]) {
        if (!limitsOf(clientName).exactIntegers) {
          await sender.send(['SET', key, '9007199254740993']);
          await expect(sender.send(['INCR', key])).rejects.toBeInstanceOf(UnknownOutcomeError);
          expect(String(await sender.send(['GET', key]))).toBe('9007199254740994');
          continue;
        }
        await sender.send(['SET', key, '9007199254740993']);
        expect(await sender.send(['INCRBY', key, '0'])).toBe(9007199254740993n);
        await sender.send(['SET', key, '-9223372036854775807']);
        expect(await sender.send(['DECR', key])).toBe(-9223372036854775808n);
        await sender.send(['SET', key, '9007199254740990']);
        expect(await sender.send(['INCR', key])).toBe(9007199254740991);
      }
      await connection.close();
    });

    it('hands over stream reads in one shape', async () => {
      const key = newKey();
      await redis.send(['XADD', key, '1-1', 'f', 'v']);
      const expected = [[Buffer.from(key), [[Buffer.from('1-1'), [Buffer.from('f'), Buffer.from('v')]]]]];
      expect(await redis.send(['XREAD', 'STREAMS', key, '0'])).toEqual(expected);
      expect(await redis.send(['XREAD', 'STREAMS', key, '1-1'])).toBeNull();
      const info = await redis.send(['XINFO', 'STREAM', key]);
      expect(Array.isArray(info) && info.slice(0, 2)).toEqual([Buffer.from('length'), 1]);
    });

    it('hands over doubles and maps of RESP3 as RESP2 does', async () => {
      const key = newKey();
      await redis.send(['ZADD', key, '1.5', 'member']);
      expect(await redis.send(['ZSCORE', key, 'member'])).toEqual(Buffer.from('1.5'));
      const hash = newKey();
      await redis.send(['HSET', hash, 'a', '1', 'b', '2']);
      expect(await redis.send(['HGETALL', hash])).toEqual(
        ['a', '1', 'b', '2'].map((text) => Buffer.from(text)),
      );
    });

    it('puts each reply and each error in its place', async () => {
      const key = newKey();
      const outcomes = await redis.sendMany([
        ['SET', key, '1'],
        ['LPUSH', key, 'x'],
        ['INCR', key],
        ['NOSUCHCOMMAND'],
        ['GET', key],
      ]);
      expect(outcomes.map((outcome) => outcome.state)).toEqual(['ok', 'error', 'ok', 'error', 'ok']);
      expect(outcomes[2]).toEqual({ state: 'ok', reply: 2 });
      expect(outcomes[1]).toMatchObject({ error: { code: 'REDIS_REPLY', kind: 'WRONGTYPE' } });
      expect(outcomes[3]).toMatchObject({ error: { code: 'REDIS_REPLY', kind: 'other' } });
      expect(await redis.sendMany([])).toEqual([]);
      await expect(redis.send(['LPUSH', key, 'x'])).rejects.toBeInstanceOf(RedisReplyError);
    });

    it('carries many commands in order, also large ones', async () => {
      const key = newKey();
      const bodies = Array.from({ length: 2000 }, (_, index) => Buffer.alloc(2000, index % 256));
      const outcomes = await redis.sendMany(bodies.map((body) => ['RPUSH', key, body]));
      expect(outcomes.map((outcome) => outcome.state === 'ok' && outcome.reply)).toEqual(
        bodies.map((_, index) => index + 1),
      );
      const stored = await redis.send(['LRANGE', key, '0', '-1']);
      // Not `toEqual`: it takes minutes for megabytes.
      const all = Buffer.concat(Array.isArray(stored) ? stored.filter(Buffer.isBuffer) : []);
      expect(all.equals(Buffer.concat(bodies))).toBe(true);
    });

    it('says unknown when the deadline passes, and ignores the late answer', async () => {
      server.freeze();
      try {
        const outcomes = await redis.sendMany([['PING'], ['PING']], { deadlineMs: 100 });
        expect(outcomes.map((outcome) => outcome.state)).toEqual(['unknown', 'unknown']);
        await expect(redis.send(['PING'], { deadlineMs: 50 })).rejects.toBeInstanceOf(UnknownOutcomeError);
      } finally {
        server.thaw();
      }
      expect(String(await redis.send(['ECHO', 'still in step']))).toBe('still in step');
    });

    it('keeps what was answered before the deadline', async () => {
      const connection = await redis.openConnection({ name: 'partly' });
      const outcomes = await connection.sendMany(
        [
          ['SET', newKey(), '1'],
          ['BRPOP', newKey(), '30'],
        ],
        { deadlineMs: 200 },
      );
      const first = limitsOf(clientName).answersOneByOne ? 'ok' : 'unknown';
      expect(outcomes.map((outcome) => outcome.state)).toEqual([first, 'unknown']);
      await connection.close();
    });

    it('keeps what was answered before the connection broke', async () => {
      const connection = await redis.openConnection({ name: 'broken' });
      const id = await connectionId('broken');
      const key = newKey();
      const sending = connection.sendMany(
        [
          ['SET', key, '1'],
          ['BRPOP', newKey(), '30'],
          ['SET', key, '2'],
        ],
        { deadlineMs: 60_000 },
      );
      await waitFor(
        async () => String(await redis.send(['GET', key])) === '1',
        'the first to be carried out',
      );
      await redis.send(['CLIENT', 'KILL', 'ID', id]);
      const first = limitsOf(clientName).answersOneByOne ? 'ok' : 'unknown';
      expect((await sending).map((outcome) => outcome.state)).toEqual([first, 'unknown', 'unknown']);
      await connection.close();
    });

    it('drops a connection: what is due is unknown, nothing late arrives, and it comes back', async () => {
      const events: string[] = [];
      const connection = await redis.openConnection({
        name: 'dropped',
        onDisconnect: () => events.push('lost'),
        onReconnect: () => events.push('back'),
      });
      const waiting = connection.send(['BRPOP', newKey(), '30'], { deadlineMs: 60_000 });
      waiting.catch(() => undefined);
      const before = await connectionId('dropped');
      connection.drop();
      await expect(waiting).rejects.toBeInstanceOf(UnknownOutcomeError);
      await expect(connection.send(['PING'])).rejects.toBeInstanceOf(NotConnectedError);
      expect(await connection.sendMany([['PING']])).toMatchObject([
        { state: 'error', error: { code: 'NOT_CONNECTED' } },
      ]);
      await waitFor(() => connection.isConnected, 'the connection to come back');
      expect(events).toEqual(['lost', 'back']);
      await waitFor(async () => !(await connectionIds('dropped')).includes(before), 'the old one to go');
      expect(await connection.send(['PING'])).toBe('PONG');
      await connection.close();
    });

    it('notices a connection that was killed, and reports what was due as unknown', async () => {
      const connection = await redis.openConnection({ name: 'killed' });
      const waiting = connection.sendMany([['BRPOP', newKey(), '30']], { deadlineMs: 60_000 });
      const id = await connectionId('killed');
      await redis.send(['CLIENT', 'KILL', 'ID', id]);
      expect(await waiting).toMatchObject([{ state: 'unknown' }]);
      await waitFor(() => connection.isConnected, 'the connection to come back');
      await connection.close();
      await connection.close();
      expect(connection.isConnected).toBe(false);
      await expect(connection.send(['PING'])).rejects.toBeInstanceOf(NotConnectedError);
      await waitFor(async () => (await connectionIds('killed')).length === 0, 'it to be gone');
    });

    const canSubscribe = protocol === 3 || limitsOf(clientName).subscribesOverResp2;
    const kinds = [
      { sharded: false, publish: 'PUBLISH', isPossible: canSubscribe },
      { sharded: true, publish: 'SPUBLISH', isPossible: limitsOf(clientName).subscribesToSharded },
    ];
    it.each(kinds.filter(({ isPossible }) => !isPossible))(
      'refuses a subscription that its library has not: sharded $sharded',
      async ({ sharded }) => {
        const subscribing = redis.subscribe(newKey(), () => undefined, { name: 'refused', sharded });
        await expect(subscribing).rejects.toMatchObject({ code: 'INVALID_OPTION' });
      },
    );

    it.each(kinds.filter(({ isPossible }) => isPossible))(
      'subscribes, survives the loss of the subscription and counts the gap, for $publish',
      async ({ sharded, publish }) => {
        const channel = newKey();
        const received: Buffer[] = [];
        let resubscribed = 0;
        const subscription = await redis.subscribe(channel, (body) => received.push(body), {
          name: 'subscriber',
          sharded,
          onResubscribe: () => resubscribed++,
        });
        const bytes = Buffer.of(0xff, 0);
        expect(await redis.send([publish, channel, bytes])).toBe(1);
        await waitFor(() => received.length === 1, 'the message');
        expect(received[0]).toEqual(bytes);
        const id = await connectionId('subscriber');
        await redis.send(['CLIENT', 'KILL', 'ID', id]);
        await waitFor(() => resubscribed === 1, 'the new subscription');
        expect(subscription.gaps).toBe(1);
        expect(await redis.send([publish, channel, 'again'])).toBe(1);
        await waitFor(() => received.length === 2, 'the second message');
        await subscription.close();
        expect(await redis.send([publish, channel, 'nobody'])).toBe(0);
      },
    );

    if (canSubscribe)
      it('notices a subscription on a connection that is silent for good', async () => {
        let gaps = 0;
        let alive = 0;
        const subscription = await redis.subscribe(newKey(), () => undefined, {
          name: 'silent',
          heartbeatMs: 20,
          onAlive: () => alive++,
          onGap: () => gaps++,
        });
        await waitFor(() => alive > 1, 'answers to PING');
        server.freeze();
        await waitFor(() => gaps === 1, 'the gap');
        server.thaw();
        await subscription.close();
      });

    it('comes back after a restart of the server; commands sent meanwhile fail or are unknown', async () => {
      const other = await TestRedis.start();
      const client = await openClient(clientName, other.url, protocol);
      const connection = await client.redis.openConnection({ name: 'restarted' });
      await other.kill();
      await waitFor(() => !connection.isConnected, 'the loss to be noticed');
      const [outcome] = await client.redis.sendMany([['PING']], { deadlineMs: 100 });
      expect(outcome?.state).not.toBe('ok');
      await other.run();
      await waitFor(() => connection.isConnected, 'the connection to come back');
      expect(await connection.send(['PING'])).toBe('PONG');
      await client.close();
      await other.stop();
    });

    it('refuses to open a connection to nobody, and leaves nothing trying', async () => {
      const other = await TestRedis.start();
      const client = await openClient(clientName, other.url, protocol);
      await other.kill();
      await expect(client.redis.openConnection({ name: 'nobody' })).rejects.toBeInstanceOf(NotConnectedError);
      await client.close();
      await other.stop();
    });
  },
);
