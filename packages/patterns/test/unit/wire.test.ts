import { describe, expect, it } from 'vitest';
import { argumentsOf, type RawReply, replyFrom } from '../../src/client/internal/replies.js';
import { exchange, failureOf, type Wire } from '../../src/client/internal/wire.js';
import type { RedisCommand } from '../../src/client/redis-client.js';

function wireAnswering(answer: (command: RedisCommand) => Promise<RawReply>, isReady = true): Wire {
  return {
    isReady,
    write: (commands) => ({ state: 'each', replies: commands.map(answer) }),
    subscribe: () => Promise.resolve(),
    unsubscribe: () => Promise.resolve(),
    destroy: () => undefined,
  };
}

const never = new Promise<RawReply>(() => undefined);

/** A library that answers a write as a whole. */
function wireAnsweringTogether(replies: Promise<readonly (RawReply | Error)[]>): Wire {
  return { ...wireAnswering(() => never), write: () => ({ state: 'together', replies }) };
}

describe('an exchange', () => {
  it('puts replies and errors in their places', async () => {
    const wire = wireAnswering(([name]) =>
      name === 'BAD' ? Promise.reject(new Error('ERR no')) : Promise.resolve('1'),
    );
    const outcomes = await exchange(wire, [['A'], ['BAD'], ['B']], 1000);
    expect(outcomes.map((outcome) => outcome.state)).toEqual(['ok', 'error', 'ok']);
    expect(outcomes[2]).toEqual({ state: 'ok', reply: 1 });
  });

  it('keeps what is known when the time is up, also when something failed before', async () => {
    const wire = wireAnswering(([name]) => {
      if (name === 'SLOW') return never;
      return name === 'BAD' ? Promise.reject(new Error('ERR no')) : Promise.resolve('OK');
    });
    const outcomes = await exchange(wire, [['BAD'], ['SLOW'], ['A']], 20);
    expect(outcomes.map((outcome) => outcome.state)).toEqual(['error', 'unknown', 'ok']);
  });

  it('says that nothing was sent while the wire is down', async () => {
    const wire = wireAnswering(() => never, false);
    expect(await exchange(wire, [['A', 'key']], 1000)).toMatchObject([
      {
        state: 'error',
        error: { code: 'NOT_CONNECTED', message: expect.stringMatching(/^A key: not connected/) },
      },
    ]);
  });

  it('ends early when its breaker is called, and leaves no breaker behind', async () => {
    const breakers = new Set<(cause: Error) => void>();
    const waiting = exchange(
      wireAnswering(() => never),
      [['A']],
      60_000,
      breakers,
    );
    for (const giveUp of breakers) giveUp(new Error('closed'));
    expect(await waiting).toMatchObject([{ state: 'unknown', error: { cause: { message: 'closed' } } }]);
    expect(breakers.size).toBe(0);
  });
});

describe('an exchange over a library that answers a write as a whole', () => {
  it('puts replies and errors in their places', async () => {
    const wire = wireAnsweringTogether(Promise.resolve(['1', new Error('ERR no'), 'OK']));
    const outcomes = await exchange(wire, [['A'], ['BAD'], ['B']], 1000);
    expect(outcomes).toMatchObject([
      { state: 'ok', reply: 1 },
      { state: 'error', error: { code: 'REDIS_REPLY' } },
      { state: 'ok', reply: 'OK' },
    ]);
  });

  it('knows nothing of any when the answer does not come, or comes late', async () => {
    const lost = wireAnsweringTogether(Promise.reject(new Error('socket closed')));
    expect(await exchange(lost, [['A'], ['B']], 1000)).toMatchObject([
      { state: 'unknown', error: { cause: { message: 'socket closed' } } },
      { state: 'unknown' },
    ]);
    const late = wireAnsweringTogether(new Promise(() => undefined));
    const outcomes = await exchange(late, [['A'], ['B']], 20);
    expect(outcomes.map((outcome) => outcome.state)).toEqual(['unknown', 'unknown']);
  });
});

it('a reply that cannot be read leaves its command unknown, and the others as they are', async () => {
  const wire: Wire = {
    ...wireAnswering(() => never),
    write: (commands) => ({
      state: 'each',
      replies: commands.map(() => Promise.resolve('7')),
      read: ([name], reply) => {
        if (name === 'BAD') throw new Error('rounded');
        return reply;
      },
    }),
  };
  expect(await exchange(wire, [['A'], ['BAD'], ['B']], 1000)).toMatchObject([
    { state: 'ok', reply: 7 },
    { state: 'unknown', error: { cause: { message: 'rounded' } } },
    { state: 'ok', reply: 7 },
  ]);
});

describe('what a library rejects with', () => {
  it.each([
    ['ERR unknown command', 'error', 'REDIS_REPLY'],
    ['NOGROUP No such key', 'error', 'REDIS_REPLY'],
    ['The client is offline', 'error', 'NOT_CONNECTED'],
    ['Socket closed unexpectedly', 'unknown', 'UNKNOWN_OUTCOME'],
    ['Connection is closed.', 'unknown', 'UNKNOWN_OUTCOME'],
    ['read ECONNRESET', 'unknown', 'UNKNOWN_OUTCOME'],
  ])('%s: %s', (message, state, code) => {
    expect(failureOf(['XADD', 'key'], new Error(message))).toMatchObject({ state, error: { code } });
  });

  it('does not take an error of the socket for a reply', () => {
    const error = Object.assign(new Error('EPIPE broken'), { syscall: 'write' });
    expect(failureOf(['A'], error)).toMatchObject({ state: 'unknown' });
  });
});

describe('a raw reply', () => {
  it('becomes an integer, exact at any size, or stays a status', () => {
    expect(replyFrom(['INCR'], '9007199254740991')).toBe(9007199254740991);
    expect(replyFrom(['INCR'], '-9007199254740993')).toBe(-9007199254740993n);
    expect(replyFrom(['SET'], 'OK')).toBe('OK');
    expect(replyFrom(['EXEC'], ['1', ['2', null], Buffer.from('3')])).toEqual([
      1,
      [2, null],
      Buffer.from('3'),
    ]);
  });

  it('of a RESP3 stream read gets the pairs of RESP2', () => {
    const entries = [[Buffer.from('1-1'), [Buffer.from('f'), Buffer.from('v')]]];
    const pairs = [[Buffer.from('key'), entries]];
    expect(replyFrom(['XREAD'], [Buffer.from('key'), entries])).toEqual(pairs);
    expect(replyFrom(['XREAD'], pairs)).toEqual(pairs);
    expect(replyFrom(['XREAD'], null)).toBeNull();
  });

  it('is asked for with arguments the libraries take', () => {
    const command = ['SET', 'key', Buffer.from('x')];
    expect(argumentsOf(command)).toBe(command);
    expect(argumentsOf(['SET', new Uint8Array([1, 2, 3]).subarray(1)])).toEqual(['SET', Buffer.of(2, 3)]);
  });
});
