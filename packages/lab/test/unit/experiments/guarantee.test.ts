import type { PatternCapabilities } from '@weir/patterns';
import { describe, expect, it } from 'vitest';
import {
  type Circumstances,
  judge,
  type Outcome,
  promiseOf,
} from '../../../src/experiments/faults/guarantee.js';
import type { FaultKind } from '../../../src/faults/fault.js';
import { emptyLedger } from '../../../src/measure/ledger.js';

/** The cells of SEMANTICS as rules: what is promised, and that a promise can be broken. */

const BASE = { fanOut: false, competingConsumers: true, replay: true } as const;
const AT_LEAST_ONCE: PatternCapabilities = {
  ...BASE,
  delivery: 'at-least-once',
  persistence: true,
  ordering: 'total',
  onHandlerError: 'retry-in-place',
  storedOffset: true,
};
const LIST: PatternCapabilities = {
  ...BASE,
  delivery: 'at-most-once',
  persistence: true,
  ordering: 'total',
  onHandlerError: 'drop',
};
const CHANNEL: PatternCapabilities = { ...LIST, persistence: false };

function circumstances(
  capabilities: PatternCapabilities,
  kind: FaultKind,
  changes: Partial<Circumstances> = {},
): Circumstances {
  return {
    capabilities,
    kind,
    handler: undefined,
    persistence: 'none',
    refused: 25,
    batch: 10,
    consumers: 1,
    strikes: 1,
    isTransactional: false,
    ...changes,
  };
}

function outcome(changes: Partial<Outcome> = {}, lost = 0, duplicated = 0): Outcome {
  return {
    ledger: { ...emptyLedger(), acknowledged: 100, lost, duplicated },
    reordered: 0,
    deadLettered: 0,
    counted: { dropped: 0, trimmed: 0, disconnects: 0 },
    resumed: true,
    ...changes,
  };
}

describe('what is promised', () => {
  it.each<[string, PatternCapabilities, FaultKind, Partial<Circumstances>, number, number]>([
    ['at least once, consumer killed', AT_LEAST_ONCE, 'consumer', {}, 0, 10],
    ['at least once, two consumers killed', AT_LEAST_ONCE, 'consumer', { consumers: 2 }, 0, 20],
    [
      'at least once, ten strikes',
      AT_LEAST_ONCE,
      'redis-process',
      { persistence: 'always', strikes: 10 },
      0,
      100,
    ],
    ['effects once, consumer killed', AT_LEAST_ONCE, 'consumer', { isTransactional: true }, 0, 0],
    ['at least once, database down', AT_LEAST_ONCE, 'dependency', {}, 0, 0],
    ['at least once, shutdown', AT_LEAST_ONCE, 'shutdown', {}, 0, 0],
    ['a list, consumer killed', LIST, 'consumer', {}, 10, 0],
    ['a list, handler throws', LIST, 'handler', {}, 25, 0],
    ['a list, Redis restarted without loss', LIST, 'redis-process', { persistence: 'always' }, 10, 0],
    ['a list, shutdown', LIST, 'shutdown', {}, 0, 0],
    ['a channel, handler throws', CHANNEL, 'handler', {}, 25, 0],
    ['a channel, nothing wrong', CHANNEL, 'none', {}, 0, 0],
    ['a channel, consumer killed', CHANNEL, 'consumer', {}, Number.POSITIVE_INFINITY, 0],
    [
      'at least once, Redis forgets',
      AT_LEAST_ONCE,
      'redis-data',
      {},
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ],
    [
      'at least once, crash, AOF everysec',
      AT_LEAST_ONCE,
      'redis-process',
      { persistence: 'everysec' },
      Number.POSITIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ],
  ])('%s', (_words, capabilities, kind, changes, lost, duplicated) => {
    expect(promiseOf(circumstances(capabilities, kind, changes))).toMatchObject({ lost, duplicated });
  });

  it('asks for order of one consumer, and not where Redis forgets what it had acknowledged', () => {
    expect(promiseOf(circumstances(AT_LEAST_ONCE, 'consumer')).ordered).toBe(true);
    expect(promiseOf(circumstances(AT_LEAST_ONCE, 'consumer', { consumers: 2 })).ordered).toBe(false);
    expect(promiseOf(circumstances(AT_LEAST_ONCE, 'redis-data')).ordered).toBe(false);
  });
});

describe('a promise is broken by', () => {
  const consumerKilled = promiseOf(circumstances(AT_LEAST_ONCE, 'consumer'));

  it.each<[string, Outcome, string]>([
    ['one message lost', outcome({}, 1), '1 acknowledged messages lost, at most 0 may be'],
    ['one repeat too many', outcome({}, 0, 11), '11 deliveries repeated, at most 10 may be'],
    ['another order', outcome({ reordered: 2 }), '2 messages came after later ones'],
    [
      'a dead letter that does not belong there',
      outcome({ deadLettered: 1 }),
      '1 dead letters, 0 belong there',
    ],
    ['messages that do not come afterwards', outcome({ resumed: false }), 'did not all come through'],
  ])('%s', (_words, found, sentence) => {
    const { state, broken } = judge(consumerKilled, found);
    expect(state).toBe('broken');
    expect(broken.join()).toContain(sentence);
  });

  it('a loss that was not counted', () => {
    const refused = promiseOf(circumstances(LIST, 'handler'));
    const counted = { dropped: 25, trimmed: 0, disconnects: 0 };
    expect(judge(refused, outcome({ counted }, 25)).state).toBe('kept');
    expect(judge(refused, outcome({ counted: { ...counted, dropped: 24 } }, 25)).broken).toEqual([
      '25 lost, 24 counted as dropped',
    ]);
    const trimmed = promiseOf(circumstances(AT_LEAST_ONCE, 'trim'));
    expect(judge(trimmed, outcome({}, 3)).broken).toEqual(['3 lost, 0 counted as trimmed']);
    const cutOff = promiseOf(circumstances(CHANNEL, 'overload'));
    expect(judge(cutOff, outcome({}, 3)).broken).toEqual(['3 lost in a gap that the consumer did not count']);
  });

  it('a poison that is not among the dead letters', () => {
    const poisoned = promiseOf(circumstances(AT_LEAST_ONCE, 'handler', { handler: 'poison', refused: 1 }));
    expect(judge(poisoned, outcome({ deadLettered: 1 })).state).toBe('kept');
    expect(judge(poisoned, outcome()).broken).toEqual(['0 dead letters, 1 belong there']);
  });

  it('nothing, where all went well', () => {
    expect(judge(consumerKilled, outcome({}, 0, 10))).toEqual({
      state: 'kept',
      promise: 'nothing lost, at most 10 repeated',
      broken: [],
    });
  });
});
