import type { RedisClient } from '../../../client/redis-client.js';
import { COUNT_TRIMMED } from '../../../scripts/count-trimmed.js';
import { integerOf } from '../streams.js';

/** How often the stream is asked what was trimmed, in milliseconds. */
const CHECK_EVERY_MS = 1000;

/**
 * Counts entries that were trimmed before the group had read them. Each is told to one consumer of the group, whichever
 * asks first, so the sum over all of them is exact.
 */
export class TrimGap {
  readonly #client: RedisClient;
  readonly #key: string;
  readonly #group: string;
  #checkedAt = performance.now();

  constructor(client: RedisClient, { key, group }: { readonly key: string; readonly group: string }) {
    this.#client = client;
    this.#key = key;
    this.#group = group;
  }

  get isDue(): boolean {
    return performance.now() - this.#checkedAt >= CHECK_EVERY_MS;
  }

  /** @returns entries that are gone and were told to nobody yet. @throws what Redis or the network answers */
  async count(): Promise<number> {
    this.#checkedAt = performance.now();
    return integerOf(await this.#client.send(['EVAL', COUNT_TRIMMED, '1', this.#key, this.#group]));
  }
}
