import type { CommandOutcome, RedisCommand } from '../../client/redis-client.js';
import { BEGIN_ATTEMPTS } from '../../scripts/begin-attempts.js';
import type { BlockingReader } from './blocking-reader.js';
import type { Membership } from './group/membership.js';
import { idsIn } from './streams.js';

/** Records of a group that nobody reads any more go away by themselves. */
export const KEPT_SECONDS = 7 * 24 * 3600;

/** Where attempts that a process did not live to count are kept: a hash of entry id to number. */
export function attemptsKey(key: string, group: string): string {
  return `${key}:attempts:${group}`;
}

/**
 * Attempts at messages that were found pending, at a start or when they were taken over: a handler that takes its
 * process down with it cannot count afterwards, so the attempt is recorded before the handler runs. Redis' own
 * delivery count will not do: it rises for neighbours that were read in the same batch, and for every time pending
 * entries are read.
 *
 * The first delivery is not recorded, which spares every message that goes well the write: to be found pending means
 * that there was one. A consumer that stops and gives a message back corrects that where it is not so.
 *
 *     attempts made = 1 + record       no record: 0       -1: read, and given back before any attempt
 */
export class RecordedAttempts {
  readonly #reader: () => BlockingReader;
  readonly #as: Membership;
  readonly #key: string;
  /** Entries of which there is a record. */
  readonly #ids = new Set<string>();

  constructor(reader: () => BlockingReader, as: Membership) {
    this.#reader = reader;
    this.#as = as;
    this.#key = attemptsKey(as.key, as.group);
  }

  /** How many attempts were made at each, in the order of `ids`. */
  async made(ids: readonly string[]): Promise<number[]> {
    if (ids.length === 0) return [];
    const [outcome] = await this.#reader().exchange([['HMGET', this.#key, ...ids]]);
    const records = accepted(outcome);
    return ids.map((id, index) => {
      const record = Array.isArray(records) ? (records[index] ?? null) : null;
      if (record !== null) this.#ids.add(id);
      return Math.max(0, 1 + Number(record ?? 0));
    });
  }

  /**
   * To be called before the handler. Renews the lease as well.
   * @returns those of which no attempt may begin: they passed to another consumer
   * @throws when it is not certain that the attempts are on record
   */
  async begin(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const { key, group, consumerName } = this.#as;
    for (const id of ids) this.#ids.add(id);
    const [outcome] = await this.#reader().exchange([
      ['EVAL', BEGIN_ATTEMPTS, '2', key, this.#key, group, consumerName, String(KEPT_SECONDS), ...ids],
    ]);
    const lost = new Set(idsIn(accepted(outcome)));
    for (const id of lost) this.#ids.delete(id);
    return lost;
  }

  /** The command that removes the records of finished entries, if they have any. */
  forget(finished: readonly string[]): RedisCommand | undefined {
    if (this.#ids.size === 0) return undefined;
    const recorded = finished.filter((id) => this.#ids.delete(id));
    return recorded.length > 0 ? ['HDEL', this.#key, ...recorded] : undefined;
  }
}

function accepted(outcome: CommandOutcome | undefined) {
  if (outcome?.state !== 'ok') throw outcome?.error ?? new Error('no outcome');
  return outcome.reply;
}
