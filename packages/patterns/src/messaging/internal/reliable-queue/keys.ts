import { createHash } from 'node:crypto';
import { deadLetterKey } from '../streams.js';

/**
 * The keys of a reliable queue beside its list. Those of one queue must lie in one slot of a Redis Cluster, so the
 * queue's name needs a hash tag there (`{orders}`); elsewhere any name does.
 */

/** Leases: a sorted set of consumers and the time, in milliseconds by the clock of Redis, until which they count as alive. */
export function leasesKey(key: string): string {
  return `${key}:leases`;
}

/** Attempts that a process did not live to count: a hash of {@link digestOf} and number. */
export function attemptsKey(key: string): string {
  return `${key}:attempts`;
}

/** What a consumer has taken and not finished: a list, newest on the left. */
export function processingKey(key: string, member: string): string {
  return `${key}:processing:${member}`;
}

/** All consumers share the list, whatever their group; the group only tells consumers of the same name apart. */
export function memberOf(group: string, consumerName: string): string {
  return `${group}:${consumerName}`;
}

/** Names a message in the records, the same as `redis.sha1hex` in the scripts. */
export function digestOf(raw: Buffer): string {
  return createHash('sha1').update(raw).digest('hex');
}

/** Every key of a queue but those of the consumers, with what it must hold. */
export function sharedKeys(key: string) {
  return {
    list: [key],
    stream: [deadLetterKey(key)],
    hash: [attemptsKey(key)],
    zset: [leasesKey(key)],
  } as const;
}
