import { BEGIN_ATTEMPTS } from '../../../scripts/reliable-queue/begin-attempts.js';
import type { BlockingReader } from '../blocking-reader.js';
import { attemptsKey, digestOf } from './keys.js';
import { type Delivery, RECORDS_KEPT_SECONDS, replyOf } from './processing-list.js';

/**
 * Attempts at messages that were once given back because their consumer was gone: a handler that takes its process
 * down with it cannot count afterwards, so the attempt is recorded before the handler runs.
 *
 * The first delivery is not recorded, which spares every message that goes well the write: to be found in the
 * processing list of a consumer that is gone means that there was one, and GIVE_BACK writes that down.
 */
export class BegunAttempts {
  readonly #reader: () => BlockingReader;
  readonly #key: string;
  /** Digests of those of our deliveries of which there is a record. */
  readonly #digests = new Set<string>();

  constructor(reader: () => BlockingReader, queue: string) {
    this.#reader = reader;
    this.#key = attemptsKey(queue);
  }

  /** How often each was begun before, in the order of the deliveries. */
  async read(deliveries: readonly Delivery[]): Promise<number[]> {
    if (deliveries.length === 0) return [];
    const digests = deliveries.map(({ raw }) => digestOf(raw));
    const [outcome] = await this.#reader().exchange([['HMGET', this.#key, ...digests]]);
    const counts = replyOf(outcome);
    return digests.map((digest, index) => {
      const count = Array.isArray(counts) ? Number(counts[index] ?? 0) : 0;
      if (count > 0) this.#digests.add(digest);
      return count;
    });
  }

  /** To be called before the handler. @throws when it is not certain that the attempts are on record. */
  async begin(deliveries: readonly Delivery[]): Promise<void> {
    const digests = deliveries.map(({ raw }) => digestOf(raw));
    const seconds = String(RECORDS_KEPT_SECONDS);
    const [outcome] = await this.#reader().exchange([
      ['EVAL', BEGIN_ATTEMPTS, '1', this.#key, seconds, ...digests],
    ]);
    replyOf(outcome);
  }

  /** @returns its digest when there is a record of it, which it does not need any more */
  forget({ raw }: Delivery): string[] {
    if (this.#digests.size === 0) return [];
    const digest = digestOf(raw);
    return this.#digests.delete(digest) ? [digest] : [];
  }
}
