import type { RedisClient } from '../../../client/redis-client.js';
import { RENEW_LEASE } from '../../../scripts/reliable-queue/renew-lease.js';
import type { Run } from '../run.js';
import { leasesKey } from './keys.js';
import { type ProcessingList, replyOf, takeAwayCommand } from './processing-list.js';

/** Renewals within the time of a lease: two may fail before it runs out. */
const RENEWALS_PER_LEASE = 3;
/** A renewal that is silent for longer is worth nothing any more, in milliseconds. */
const LONGEST_DEADLINE_MS = 5000;

/**
 * Keeps a consumer alive in the eyes of the others while its handler works, however long that takes, and gives back
 * to the queue what consumers held that have gone silent. On the shared connection: the own one may be waiting.
 */
export class Lease {
  readonly #client: RedisClient;
  readonly #run: Run;
  readonly #list: ProcessingList;
  #timer: NodeJS.Timeout | undefined;
  #isRenewing = false;

  constructor(client: RedisClient, run: Run, list: ProcessingList) {
    this.#client = client;
    this.#run = run;
    this.#list = list;
  }

  /** Takes the lease and renews it from now on. @throws what Redis or the network answered. */
  async begin(): Promise<void> {
    await this.#renew();
    this.#timer = setInterval(() => this.#tick(), this.#run.settings.leaseMs / RENEWALS_PER_LEASE);
    // What keeps a process alive is the connection of its consumer.
    this.#timer.unref();
  }

  /** It runs out by itself from here. */
  end(): void {
    clearInterval(this.#timer);
  }

  #tick(): void {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    this.#renew()
      .catch((error: unknown) => this.#run.report(error))
      .finally(() => {
        this.#isRenewing = false;
      });
  }

  async #renew(): Promise<void> {
    const { key, leaseMs } = this.#run.settings;
    const { member } = this.#list;
    const deadlineMs = Math.min(leaseMs, LONGEST_DEADLINE_MS);
    const milliseconds = String(Math.ceil(leaseMs));
    const renewal = ['EVAL', RENEW_LEASE, '1', leasesKey(key), member, milliseconds];
    const expired = await this.#client.send(renewal, { deadlineMs });
    if (!Array.isArray(expired) || expired.length === 0) return;
    const takeAway = expired.map((silent) => takeAwayCommand(key, String(silent)));
    for (const outcome of await this.#client.sendMany(takeAway, { deadlineMs })) {
      this.#run.counters.takenOver += Number(replyOf(outcome));
    }
  }
}
