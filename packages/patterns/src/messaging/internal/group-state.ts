import type { RedisClient, RedisReply } from '../../client/redis-client.js';
import {
  compareIds,
  entriesIn,
  fieldOf,
  integerOf,
  isNoSuchKey,
  readStreamInfo,
  type StreamInfo,
  textOf,
} from './streams.js';

/** Where the entries of a stream are, as one group sees it. */
export interface GroupState {
  readonly exists: boolean;
  /** Entries in the stream, handled ones included. */
  readonly length: number;
  /** Not yet given to any consumer of the group. */
  readonly unread: number;
  /** Given to a consumer and not acknowledged. */
  readonly pending: number;
}

/** Where no group was created, everything in the stream is unread. */
export async function readGroupState(client: RedisClient, key: string, group: string): Promise<GroupState> {
  const [groups, info] = await Promise.all([readGroups(client, key), readStreamInfo(client, key)]);
  if (groups === undefined) return { exists: false, length: 0, unread: 0, pending: 0 };
  const { length } = info;
  const own = groups.find((candidate) => textOf(fieldOf(candidate, 'name')) === group);
  if (own === undefined) return { exists: true, length, unread: length, pending: 0 };
  const pending = integerOf(fieldOf(own, 'pending'));
  return { exists: true, length, unread: await lagOf(client, key, own, info), pending };
}

/** Unread and pending entries of the slowest group; the whole stream where there is none. */
export async function groupBacklog(client: RedisClient, key: string): Promise<number> {
  const [groups, info] = await Promise.all([readGroups(client, key), readStreamInfo(client, key)]);
  if (groups === undefined) return 0;
  if (groups.length === 0) return info.length;
  let longest = 0;
  for (const group of groups) {
    const backlog = (await lagOf(client, key, group, info)) + integerOf(fieldOf(group, 'pending'));
    longest = Math.max(longest, backlog);
  }
  return longest;
}

/** @returns what XINFO GROUPS says of each; `undefined` without a stream */
export async function readGroups(client: RedisClient, key: string): Promise<RedisReply[] | undefined> {
  try {
    const reply = await client.send(['XINFO', 'GROUPS', key]);
    return Array.isArray(reply) ? reply : [];
  } catch (error) {
    if (isNoSuchKey(error)) return undefined;
    throw error;
  }
}

const PAGE = 1000;

/**
 * Redis 7 counts the lag itself, but gives nil where entries were deleted in the middle or the group began at an
 * id of its own, and keeps entries in it that were trimmed unread; before 7 it does not count. What lies between the
 * last id given out and the end is known at both ends of the stream; in the middle the lag is asked for, and where
 * there is none the entries are counted.
 */
async function lagOf(
  client: RedisClient,
  key: string,
  group: RedisReply,
  { lastGeneratedId, firstId, length }: StreamInfo,
): Promise<number> {
  let after = textOf(fieldOf(group, 'last-delivered-id'));
  if (compareIds(lastGeneratedId, after) <= 0) return 0;
  if (firstId === undefined || compareIds(firstId, after) > 0) return length;
  const lag = fieldOf(group, 'lag');
  if (typeof lag === 'number') return lag;
  let counted = 0;
  for (;;) {
    const page = entriesIn(await client.send(['XRANGE', key, `(${after}`, '+', 'COUNT', String(PAGE)]));
    counted += page.length;
    const last = page.at(-1)?.id;
    if (page.length < PAGE || last === undefined || compareIds(last, after) <= 0) return counted;
    after = last;
  }
}
