import type { RedisClient, RedisCommand } from '../../../client/redis-client.js';
import type { PatternState } from '../../pattern.js';
import { assertOwnKeys, namingForeignKey } from '../foreign-key.js';
import { deadLetterKey, integerOf } from '../streams.js';
import { attemptsKey, leasesKey, processingKey, sharedKeys } from './keys.js';
import { replyOf } from './processing-list.js';

/**
 * Where the messages of a queue are. Read in two steps, so what moves in between may be counted twice or not at all.
 * @throws {PatternError} FOREIGN_KEY
 */
export async function inspectQueue(client: RedisClient, key: string): Promise<PatternState> {
  const processing = await processingKeys(client, key);
  const deadKey = deadLetterKey(key);
  const [unread = 0, deadLettered = 0, attempts = 0, leases = 0, ...lengths] = await integers(client, key, [
    ['LLEN', key],
    ['XLEN', deadKey],
    ['EXISTS', attemptsKey(key)],
    ['EXISTS', leasesKey(key)],
    ...processing.map((list) => ['LLEN', list]),
  ]);
  const keys = [
    ...(unread > 0 ? [key] : []),
    ...(deadLettered > 0 ? [deadKey] : []),
    ...(attempts > 0 ? [attemptsKey(key)] : []),
    ...(leases > 0 ? [leasesKey(key)] : []),
    ...processing.filter((_list, index) => (lengths[index] ?? 0) > 0),
  ];
  const pending = lengths.reduce((sum, length) => sum + length, 0);
  return { keys, unread, pending, deadLettered, length: unread };
}

/**
 * Removes every key of a queue, or none when one of them is not ours. The leases tell which processing lists there are.
 * @throws {PatternError} FOREIGN_KEY
 */
export async function destroyQueue(client: RedisClient, key: string): Promise<void> {
  const { list, stream, hash, zset } = sharedKeys(key);
  await assertOwnKeys(client, zset, 'zset');
  const lists = [...list, ...(await processingKeys(client, key))];
  await assertOwnKeys(client, lists, 'list');
  await assertOwnKeys(client, stream, 'stream');
  await assertOwnKeys(client, hash, 'hash');
  await client.send(['DEL', ...lists, ...stream, ...hash, ...zset]);
}

async function processingKeys(client: RedisClient, key: string): Promise<string[]> {
  const leases = leasesKey(key);
  const members = await namingForeignKey(client, leases, 'zset', () =>
    client.send(['ZRANGE', leases, '0', '-1']),
  );
  return Array.isArray(members) ? members.map((member) => processingKey(key, String(member))) : [];
}

/** A reply that is no integer can only come from a key of the wrong type, of which the first one is told. */
async function integers(
  client: RedisClient,
  key: string,
  commands: readonly RedisCommand[],
): Promise<number[]> {
  const outcomes = await client.sendMany(commands);
  return namingForeignKey(client, key, 'list', async () =>
    outcomes.map((outcome) => integerOf(replyOf(outcome))),
  );
}
