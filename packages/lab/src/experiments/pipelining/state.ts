import type { RedisClient } from '@weir/patterns';
import { pipeline } from '@weir/patterns/pipelining/pipeline';
import { seededRandom } from '../../core/random.js';
import { bodyOf, keyOf } from '../../workers/pipelining-operations.js';
import type { PipeliningOptions } from './options.js';

/** What the operations must leave behind in Redis, and how that is made sure of. */

const SAMPLES = 100;

/** What Redis holds against what it must hold. */
export interface StateCheck {
  readonly what: string;
  readonly expected: number;
  readonly found: number;
}

/** Some of the keys, to find out whether somebody else uses their names. */
export function keysOf(options: PipeliningOptions): string[] {
  const indices = [0, Math.floor(options.operations / 2), options.operations - 1];
  return [...new Set(indices.map((index) => keyOf(options, index)))];
}

/** GET needs something to get. */
export async function fillFor(redis: RedisClient, options: PipeliningOptions): Promise<void> {
  if (options.command !== 'get') return;
  const commands = Array.from({ length: options.operations }, (_, index) => [
    'SET',
    keyOf(options, index),
    bodyOf(index, options.valueBytes),
  ]);
  const outcomes = await pipeline(redis).send(commands);
  const failed = outcomes.find((outcome) => outcome.state !== 'ok');
  if (failed !== undefined) throw failed.error;
}

/** Removes every key of the trial and no other. */
export async function removeKeys(redis: RedisClient, options: PipeliningOptions): Promise<void> {
  const count = options.command === 'xadd' ? 1 : options.operations;
  await pipeline(redis).send(Array.from({ length: count }, (_, index) => ['UNLINK', keyOf(options, index)]));
}

export async function databaseSize(redis: RedisClient): Promise<number> {
  return Number(await redis.send(['DBSIZE']));
}

/**
 * Looks at values, chosen by the seed.
 * @param done operations carried out, pass after pass, in order
 */
export async function checkState(
  redis: RedisClient,
  options: PipeliningOptions,
  done: number,
  seed: number,
): Promise<StateCheck> {
  const { command, operations, valueBytes } = options;
  if (command === 'xadd') {
    return { what: 'entries', expected: done, found: Number(await redis.send(['XLEN', keyOf(options, 0)])) };
  }
  const touched = Math.min(done, operations);
  const random = seededRandom(seed);
  const indices = Array.from({ length: Math.min(SAMPLES, touched) }, () => Math.floor(random() * touched));
  const outcomes = await redis.sendMany(indices.map((index) => ['GET', keyOf(options, index)]));
  const right = indices.filter((index, sample) => {
    const outcome = outcomes[sample];
    const expected =
      command === 'incr' ? String(timesDone(index, done, operations)) : bodyOf(index, valueBytes);
    return outcome?.state === 'ok' && String(outcome.reply) === expected;
  });
  return { what: 'sampled values', expected: indices.length, found: right.length };
}

/** How often an operation was carried out in so many passes and a part of one. */
function timesDone(index: number, done: number, operations: number): number {
  return Math.floor(done / operations) + (index < done % operations ? 1 : 0);
}
