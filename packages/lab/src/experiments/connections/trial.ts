import type { RedisClient } from '@weir/patterns';
import type { Measurement } from '../../measure/measurement.js';
import type { Factors } from '../../measure/result.js';
import { connectClient } from '../../redis/clients.js';
import type { PointLoad, PointLoadReport } from '../../workers/point-api.js';
import type { TrialContext } from '../experiment.js';
import { hasEntries, keysOf, loadEntries, removeEntries } from './entries.js';
import { measurementOf } from './measurement.js';
import type { ConnectionsOptions } from './options.js';
import { type Cast, openStage, type StageSettings, type Window } from './stage.js';

/** Everything a trial brought home, for {@link measurementOf}. */
export interface TrialRecord {
  readonly options: ConnectionsOptions;
  readonly cast: Cast;
  readonly load: PointLoad;
  readonly managed: boolean;
  /** Undefined where the entries are kept from one trial to the next. */
  readonly keysAtStart: readonly string[] | undefined;
  readonly warmUp: readonly PointLoadReport[];
  readonly window: Window;
}

/** Makes one trial: entries in Redis, fresh processes, warm-up, measured window. */
export async function connectionsTrial(
  factors: Factors,
  options: ConnectionsOptions,
  context: TrialContext,
): Promise<Measurement> {
  const cast = castOf(factors, options);
  const settings: StageSettings = { ...options, cast };
  return withEntries(settings, context, async (monitor, keysAtStart) => {
    const stage = await openStage(settings, context);
    try {
      const warmUp = await stage.load(loadOf(factors, options.warmUpMs));
      const load = loadOf(factors, options.durationMs);
      const window = await stage.measure(load, monitor);
      context.signal.throwIfAborted();
      const { managed } = context.redis;
      return measurementOf({ options, cast, load, managed, keysAtStart, warmUp, window });
    } finally {
      await stage.close();
    }
  });
}

/**
 * Works on a Redis that holds the entries. A managed one keeps them for the next trial, where they are verified instead
 * of loaded again; of the user's Redis they are removed. Saving starts from nothing.
 */
export async function withEntries<T>(
  { cast, request, entries, keyPrefix }: StageSettings,
  context: TrialContext,
  work: (monitor: RedisClient, keysAtStart: readonly string[] | undefined) => Promise<T>,
): Promise<T> {
  const { managed, url } = context.redis;
  // Which library watches makes no difference to what is watched.
  const monitor = await connectClient('node-redis', url, { name: 'weir-monitor' });
  const { client: redis } = monitor;
  const ids = { entries, keyPrefix };
  // An app of the user does not know a Redis that weir has just started.
  const isLoaded = request === 'get' && (cast.state === 'ours' || !managed);
  const isKept = managed && isLoaded;
  try {
    const keysAtStart = isKept ? undefined : await existing(redis, keysOf(ids));
    try {
      if (isLoaded && !(isKept && (await hasEntries(redis, ids)))) await loadEntries(redis, ids, context);
      return await work(redis, keysAtStart);
    } finally {
      if (!isKept) await removeEntries(redis, ids);
    }
  } finally {
    await monitor.close();
  }
}

async function existing(redis: RedisClient, keys: readonly string[]): Promise<string[]> {
  const outcomes = await redis.sendMany(keys.map((key) => ['EXISTS', key]));
  return keys.filter((_, index) => {
    const outcome = outcomes[index];
    return outcome?.state === 'ok' && outcome.reply !== 0;
  });
}

function castOf(
  { strategy, client }: Factors,
  { choices, givenApps, clients, apps }: ConnectionsOptions,
): Cast {
  const given = givenApps.find(({ name }) => name === strategy);
  if (given !== undefined) return { state: 'given', url: given.url };
  const choice = choices.find(({ label }) => label === strategy);
  const library = clients.find((name) => name === client);
  if (choice === undefined || library === undefined)
    throw new Error('the plan has a factor that was not asked for');
  return { state: 'ours', choice, client: library, apps };
}

/** A rate of 0 stands for none: the load is closed. */
function loadOf({ rate }: Factors, forMs: number): PointLoad {
  const perSecond = Number(rate ?? 0);
  return perSecond === 0 ? { mode: 'closed', forMs } : { mode: 'open', forMs, perSecond };
}
