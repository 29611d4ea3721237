import type { RedisClient } from '../../client/redis-client.js';
import type { PatternState } from '../pattern.js';
import { assertOwnKeys, namingForeignKey, removeOwnKeys } from './foreign-key.js';
import { offsetsKey, startsKey } from './offset/offset-keeper.js';
import { type Place, placeFrom } from './offset/place.js';
import { deadLetterKey, integerOf, readStreamInfo, textOf } from './streams.js';

/** A stream that every reader reads by an offset of its own: what its patterns do outside producers and consumers. */

export function streamLength(client: RedisClient, key: string): Promise<number> {
  return namingForeignKey(client, key, 'stream', async () => integerOf(await client.send(['XLEN', key])));
}

/**
 * `unread` is the backlog of the slowest reader whose offset is in Redis (from Redis 7 on); where there is none, 0:
 * how far other readers are behind, only they can say.
 */
export async function inspectLog(client: RedisClient, key: string): Promise<PatternState> {
  const dead = deadLetterKey(key);
  const offsets = offsetsKey(key);
  const length = await streamLength(client, key);
  const deadLettered = await streamLength(client, dead);
  const places = await readPlaces(client, offsets);
  const { entriesAdded } = await readStreamInfo(client, key);
  const backlogs = places.map(({ passed }) => (entriesAdded ?? 0) - (passed ?? entriesAdded ?? 0));
  const keys = [
    ...(length > 0 ? [key] : []),
    ...(deadLettered > 0 ? [dead] : []),
    ...(places.length > 0 ? [offsets] : []),
  ];
  // What was trimmed waits for nobody.
  const unread = Math.min(length, Math.max(0, ...backlogs));
  return { keys, unread, pending: 0, deadLettered, length };
}

async function readPlaces(client: RedisClient, offsets: string): Promise<Place[]> {
  const reply = await namingForeignKey(client, offsets, 'hash', () => client.send(['HVALS', offsets]));
  return Array.isArray(reply) ? reply.map((form) => placeFrom(textOf(form))) : [];
}

/** Offsets and dead letters included. */
export async function destroyLog(client: RedisClient, key: string): Promise<void> {
  const streams = [key, deadLetterKey(key)];
  await assertOwnKeys(client, streams, 'stream');
  await removeOwnKeys(client, [offsetsKey(key), startsKey(key)], 'hash');
  await removeOwnKeys(client, streams, 'stream');
}
