import type { RedisClient } from '@weir/patterns';
import { pipeline } from '@weir/patterns/pipelining/pipeline';
import { pointKey } from '../../services/point-keys.js';
import type { TrialContext } from '../experiment.js';
import type { ConnectionsOptions } from './options.js';

/** The hashes that lookups find: loaded by pipelines, kept between the trials of a managed Redis, removed otherwise. */

/** Commands handed over at once: enough for pipelines to be full, few enough to tell of progress. */
const SLICE = 10_000;

type EntryOptions = Pick<ConnectionsOptions, 'entries' | 'keyPrefix'>;

/** Some of the keys, to find out whether somebody else uses their names. */
export function keysOf({ entries, keyPrefix }: EntryOptions): string[] {
  const ids = new Set([1, Math.ceil(entries / 2), entries]);
  return [...ids].map((id) => pointKey(keyPrefix, id));
}

/**
 * Whether exactly the entries are there. Only of a Redis that nobody else writes to: of a managed one.
 */
export async function hasEntries(redis: RedisClient, options: EntryOptions): Promise<boolean> {
  if (Number(await redis.send(['DBSIZE'])) !== options.entries) return false;
  const found = await redis.sendMany(keysOf(options).map((key) => ['HEXISTS', key, 'point']));
  return found.every((outcome) => outcome.state === 'ok' && outcome.reply === 1);
}

/** @throws Error of the first command that Redis refused: out of memory, for one */
export async function loadEntries(
  redis: RedisClient,
  { entries, keyPrefix }: EntryOptions,
  context: Pick<TrialContext, 'progress' | 'signal'>,
): Promise<void> {
  const refreshTime = String(Date.now());
  await inSlices(redis, entries, context, (id) => [
    'HSET',
    pointKey(keyPrefix, id),
    ...['id', String(id), 'point', String(id), 'refreshTime', refreshTime],
  ]);
}

/** Removes every key that the trial can have made, and no other. */
export async function removeEntries(redis: RedisClient, { entries, keyPrefix }: EntryOptions): Promise<void> {
  const silent = { progress: () => undefined, signal: new AbortController().signal };
  await inSlices(redis, entries, silent, (id) => ['UNLINK', pointKey(keyPrefix, id)]);
}

async function inSlices(
  redis: RedisClient,
  entries: number,
  { progress, signal }: Pick<TrialContext, 'progress' | 'signal'>,
  command: (id: number) => readonly string[],
): Promise<void> {
  const pipe = pipeline(redis);
  const began = performance.now();
  for (let from = 1; from <= entries; from += SLICE) {
    signal.throwIfAborted();
    const count = Math.min(SLICE, entries - from + 1);
    const outcomes = await pipe.send(Array.from({ length: count }, (_, index) => command(from + index)));
    const failed = outcomes.find((outcome) => outcome.state !== 'ok');
    if (failed !== undefined) throw failed.error;
    const handled = from + count - 1;
    progress({ handled, perSecond: (handled * 1000) / Math.max(1, performance.now() - began) });
  }
}
