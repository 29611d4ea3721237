import type { CommandOutcome, RedisCommand } from '../../client/redis-client.js';
import type { BlockingReader } from './blocking-reader.js';

/** Records of a group that nobody reads any more go away by themselves. */
const KEPT_SECONDS = 7 * 24 * 3600;

/** Where attempts that a process did not live to count are kept: a hash of entry id to number. */
export function attemptsKey(key: string, group: string): string {
  return `${key}:attempts:${group}`;
}

/**
 * Attempts at messages that a consumer found pending when it started: a handler that takes its process down with
 * it cannot count afterwards, so the attempt is recorded before the handler runs. Redis' own delivery count will
 * not do: it rises for neighbours that were read in the same batch, and for every time pending entries are read.
 *
 * The first delivery is not recorded, which spares every message that goes well the write: to be pending at a
 * start means that there was one.
 */
export class RecordedAttempts {
  readonly #reader: () => BlockingReader;
  readonly #key: string;
  /** Entries of which there is a record. */
  readonly #ids = new Set<string>();

  constructor(reader: () => BlockingReader, key: string) {
    this.#reader = reader;
    this.#key = key;
  }

  /** How often each was begun after its first delivery, in the order of `ids`. */
  async read(ids: readonly string[]): Promise<number[]> {
    if (ids.length === 0) return [];
    const [outcome] = await this.#reader().exchange([['HMGET', this.#key, ...ids]]);
    const counts = accepted(outcome);
    return ids.map((id, index) => {
      const count = Array.isArray(counts) ? Number(counts[index] ?? 0) : 0;
      if (count > 0) this.#ids.add(id);
      return count;
    });
  }

  /** To be called before the handler. @throws when it is not certain that the attempts are on record. */
  async begin(ids: readonly string[]): Promise<void> {
    const commands: RedisCommand[] = ids.map((id) => ['HINCRBY', this.#key, id, '1']);
    commands.push(['EXPIRE', this.#key, String(KEPT_SECONDS)]);
    for (const id of ids) this.#ids.add(id);
    for (const outcome of await this.#reader().exchange(commands)) accepted(outcome);
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
