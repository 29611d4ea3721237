import type { RedisClient } from '../../client/redis-client.js';
import { PatternError, RedisReplyError } from '../../errors.js';

/** What Redis answers to TYPE for the keys the patterns use. */
export type RedisType = 'list' | 'stream' | 'hash' | 'zset';

/** @returns the error that names the key, what it holds and what it should hold. Nothing is ever deleted. */
export async function foreignKeyError(
  client: RedisClient,
  key: string,
  expected: RedisType,
  cause?: Error,
): Promise<PatternError> {
  const actual = await client.send(['TYPE', key]).then(String, () => 'something else');
  return new PatternError(
    'FOREIGN_KEY',
    `${key} holds a ${actual}, a ${expected} is needed; it belongs to other software and was left alone: ` +
      'use another key',
    cause === undefined ? {} : { cause },
  );
}

/**
 * Checks that the keys are ours to use: absent or of the expected type.
 * @throws {PatternError} FOREIGN_KEY
 */
export async function assertOwnKeys(
  client: RedisClient,
  keys: readonly string[],
  expected: RedisType,
): Promise<void> {
  for (const key of keys) {
    const type = String(await client.send(['TYPE', key]));
    if (type !== 'none' && type !== expected) throw await foreignKeyError(client, key, expected);
  }
}

/** Removes keys that hold what is expected. @throws {PatternError} FOREIGN_KEY, before anything is removed. */
export async function removeOwnKeys(
  client: RedisClient,
  keys: readonly string[],
  expected: RedisType,
): Promise<void> {
  await assertOwnKeys(client, keys, expected);
  for (const key of keys) await client.send(['DEL', key]);
}

/** Runs Redis work and turns WRONGTYPE into FOREIGN_KEY. */
export async function namingForeignKey<Result>(
  client: RedisClient,
  key: string,
  expected: RedisType,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RedisReplyError && error.kind === 'WRONGTYPE') {
      throw await foreignKeyError(client, key, expected, error);
    }
    throw error;
  }
}
