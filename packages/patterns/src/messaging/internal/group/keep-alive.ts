import type { RedisClient } from '../../../client/redis-client.js';
import { RENEW_LEASES } from '../../../scripts/renew-leases.js';
import type { Run } from '../run.js';
import { idsIn } from '../streams.js';
import type { Lease } from './lease.js';

/** Ids in one script. */
const CHUNK = 1000;
/** How often it is looked whether a renewal is due, as a part of the lease. */
const LOOKS_PER_LEASE = 8;
const SHORTEST_INTERVAL_MS = 5;

/** What is kept alive: asked anew for every renewal. */
export interface Owned {
  /** Ids of all entries that are ours: in the hands of the handler, held for a retry, not yet acknowledged. */
  ownedIds(): readonly string[];
  /** These are ours no longer. */
  lose(ids: readonly string[]): void;
}

/**
 * Renews the lease of everything owned, so that a slow handler, a pause for a database or a retry delay does not look
 * like death to the other consumers. It runs on a timer and on the shared connection: the loop may be waiting for the
 * handler, and the connection of the reads may be blocked.
 *
 * A handler that never returns is renewed for ever: only the end of its process gives its messages to others.
 */
export class KeepAlive {
  readonly #client: RedisClient;
  readonly #run: Run;
  readonly #lease: Lease;
  readonly #owned: Owned;
  #timer: NodeJS.Timeout | undefined;
  #underWay: Promise<void> | undefined;
  #isFailing = false;

  constructor(client: RedisClient, run: Run, lease: Lease, owned: Owned) {
    this.#client = client;
    this.#run = run;
    this.#lease = lease;
    this.#owned = owned;
  }

  start(): void {
    const everyMs = Math.max(SHORTEST_INTERVAL_MS, this.#run.settings.leaseMs / LOOKS_PER_LEASE);
    // It must not keep a process alive that has nothing else to do.
    this.#timer = setInterval(() => this.#look(), everyMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Renews everything owned now. Errors are reported; the lease then runs on. Never rejects. */
  renew(): Promise<void> {
    this.#underWay ??= this.#renew().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  #look(): void {
    if (this.#run.isAbandoned && !this.#run.isHandling) this.stop();
    else if (this.#lease.isDueForRenewal(performance.now())) void this.renew();
  }

  async #renew(): Promise<void> {
    const { key, group, consumerName } = this.#run.settings;
    const ids = this.#owned.ownedIds();
    if (ids.length === 0) return;
    const sentAt = performance.now();
    this.#lease.renewalBegins();
    const chunks = Array.from({ length: Math.ceil(ids.length / CHUNK) }, (_, index) =>
      ids.slice(index * CHUNK, (index + 1) * CHUNK),
    );
    const outcomes = await this.#client.sendMany(
      chunks.map((chunk) => ['EVAL', RENEW_LEASES, '1', key, group, consumerName, ...chunk]),
    );
    const failed = outcomes.find((outcome) => outcome.state !== 'ok');
    for (const outcome of outcomes) if (outcome.state === 'ok') this.#owned.lose(idsIn(outcome.reply));
    if (failed === undefined) this.#lease.renewed(sentAt);
    // Said once, not at every look: the loop, too, meets what ails Redis and says so.
    else if (!this.#isFailing && !this.#run.isAbandoned) this.#run.report(failed.error);
    this.#isFailing = failed !== undefined;
  }
}
