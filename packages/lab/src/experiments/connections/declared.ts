import type { Observations } from '../../measure/measurement.js';
import { totals } from './answers.js';
import type { TrialRecord } from './trial.js';

/** What a strategy says it does, held against what Redis counted. Only where nobody else uses the server. */

/** A connection may be replaced, and a request repeated, now and then. */
const RARE = 0.01;
/** Of a binomial share, in standard errors: wrong once in 15,000 trials. */
const STANDARD_ERRORS = 4;
/** Beside the apps' connections there is the one that watches. */
const WATCHING = 1;

const COMMANDS = { get: 'hget', save: 'hset' } as const;

export function declaredOf(record: TrialRecord): NonNullable<Observations['declared']> {
  const { cast, options, managed, window } = record;
  if (!managed || cast.state === 'given') return [];
  const { choice, apps } = cast;
  const { capabilities } = choice.strategy;
  const { redis, seen, reports } = window;
  const requests = Math.max(1, totals(reports).attempted);
  const keepsOpen = WATCHING + apps * (1 + capabilities.idleConnections(choice));
  return [
    // Connections per request come and go; how many are open at once is a figure and no promise.
    ...(capabilities.connectionsPerUse === 0
      ? [{ what: 'connections', declared: keepsOpen, observed: seen.most, tolerance: 0 }]
      : []),
    {
      what: 'connections made per request',
      declared: capabilities.connectionsPerUse,
      observed: redis.connectionsMade / requests,
      tolerance: RARE,
    },
    {
      what: 'PINGs per request',
      declared: capabilities.pingsPerUse(choice),
      observed: (redis.commandstats.ping?.calls ?? 0) / requests,
      tolerance: RARE,
    },
    ...(options.request === 'get' ? [hitRateOf(record)] : []),
  ];
}

function hitRateOf({ options, window }: TrialRecord): NonNullable<Observations['declared']>[number] {
  const { hits, misses } = window.keyspace;
  const lookups = Math.max(1, hits + misses);
  const { hitRate } = options;
  const standardError = Math.sqrt((hitRate * (1 - hitRate)) / lookups);
  return {
    what: 'hit rate',
    declared: hitRate,
    observed: hits / lookups,
    tolerance: hitRate === 0 ? 0 : (STANDARD_ERRORS * standardError) / hitRate,
  };
}

/** Each request is one command on a hash, and Redis must have counted as many. */
export function serverCountsOf(record: TrialRecord): NonNullable<Observations['serverCounts']> {
  const { cast, options, managed, window } = record;
  if (!managed || cast.state === 'given') return [];
  const { attempted, succeeded } = totals(window.reports);
  const command = COMMANDS[options.request];
  return [
    {
      what: `${command.toUpperCase()} calls`,
      ledger: succeeded,
      server: window.redis.commandstats[command]?.calls ?? 0,
      relation: attempted === succeeded ? 'exact' : 'at-least',
    },
  ];
}
