import type { RedisClient } from '../../../client/redis-client.js';
import { RedisReplyError } from '../../../errors.js';
import { LEAVE_GROUP } from '../../../scripts/leave-group.js';
import { REMOVE_SILENT_CONSUMERS } from '../../../scripts/remove-silent-consumers.js';
import { readGroups } from '../group-state.js';
import { attemptsKey, KEPT_SECONDS } from '../recorded-attempts.js';
import { fieldOf, integerOf, textOf } from '../streams.js';

/**
 * A consumer's place in its group.
 *
 * Redis enters a consumer when it reads, and keeps its name for ever: names that change with every process (a random
 * suffix, the name of a container) leak by the million. So a consumer that stops takes its name out again, and whoever
 * starts or takes something over removes those that died with nothing pending. A name is nothing but a label of
 * pending entries: one that was removed and lives after all is entered again by its next read.
 */
export interface Membership {
  readonly key: string;
  readonly group: string;
  readonly consumerName: string;
}

/** An entry that is left to the others. */
export interface GivenBack {
  readonly id: string;
  /** Attempts made at it; `undefined`: as many as are on record. */
  readonly attempts: number | undefined;
}

/** The error replies that mean: the group, or the whole stream, is not there any more. */
export function isGroupGone(error: unknown): boolean {
  return error instanceof RedisReplyError && (error.kind === 'NOGROUP' || error.kind === 'UNBLOCKED');
}

/**
 * Makes sure that the group exists.
 * @param at id after which a new group begins
 * @returns whether it was created just now
 */
export async function joinGroup(
  client: RedisClient,
  { key, group }: Membership,
  at: string,
): Promise<boolean> {
  try {
    await client.send(['XGROUP', 'CREATE', key, group, at, 'MKSTREAM']);
    return true;
  } catch (error) {
    if (!(error instanceof RedisReplyError)) throw error;
    if (error.kind === 'BUSYGROUP') return false;
    // A full Redis refuses before it looks whether there is anything to create, and a group that exists can be read.
    if (error.kind === 'OOM' && (await groupExists(client, key, group))) return false;
    throw error;
  }
}

/** @returns how many of the entries were given back; the others are not ours any more */
export async function leaveGroup(
  client: RedisClient,
  { key, group, consumerName }: Membership,
  givenBack: readonly GivenBack[],
): Promise<number> {
  const pairs = givenBack.flatMap(({ id, attempts }) => [
    id,
    attempts === undefined ? '' : String(attempts - 1),
  ]);
  const names = [key, attemptsKey(key, group), group, consumerName];
  return integerOf(await client.send(['EVAL', LEAVE_GROUP, '2', ...names, String(KEPT_SECONDS), ...pairs]));
}

/** @param silentMs how long a consumer must not have asked for anything */
export async function removeSilentConsumers(
  client: RedisClient,
  { key, group }: Membership,
  silentMs: number,
): Promise<void> {
  await client.send(['EVAL', REMOVE_SILENT_CONSUMERS, '1', key, group, String(silentMs)]);
}

async function groupExists(client: RedisClient, key: string, group: string): Promise<boolean> {
  const groups = (await readGroups(client, key)) ?? [];
  return groups.some((candidate) => textOf(fieldOf(candidate, 'name')) === group);
}
