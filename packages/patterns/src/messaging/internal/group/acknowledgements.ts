import type { CommandOutcome, RedisCommand } from '../../../client/redis-client.js';
import { ACKNOWLEDGE_OWN } from '../../../scripts/acknowledge-own.js';
import { attemptsKey, type RecordedAttempts } from '../recorded-attempts.js';
import { idsIn } from '../streams.js';
import type { Membership } from './membership.js';

/** Ids in one command. */
const CHUNK = 1000;

/** What became of a write of acknowledgements. */
export type Settled =
  | { readonly state: 'confirmed' /** Not ours to acknowledge any more. */; readonly fenced: number }
  /** All of them are written again. */
  | { readonly state: 'failed'; readonly error: Error };

/**
 * Entries that were handled and whose acknowledgement Redis has not confirmed yet. They are written all at once, with
 * the next read, and again until an answer comes.
 *
 *     add -> commands -> (written) -> settle
 */
export class Acknowledgements {
  readonly #as: Membership;
  readonly #recorded: RecordedAttempts;
  #ids: string[] = [];
  /** So many of them, the first ones, have been written and not been answered. */
  #written = 0;
  /** Of the write under way: those that an earlier one may have acknowledged. `undefined`: plain XACK. */
  #fencedWrite: { readonly repeated: ReadonlySet<string> } | undefined;

  constructor(as: Membership, recorded: RecordedAttempts) {
    this.#as = as;
    this.#recorded = recorded;
  }

  get ids(): readonly string[] {
    return this.#ids;
  }

  add(id: string): void {
    this.#ids.push(id);
  }

  /** @returns how many are dropped because they passed to another consumer; of those written, the answer will tell */
  lose(ids: ReadonlySet<string>): number {
    const before = this.#ids.length;
    this.#ids = this.#ids.filter((id, index) => index < this.#written || !ids.has(id));
    return before - this.#ids.length;
  }

  /** The entries or their group are gone. */
  clear(): void {
    this.#ids = [];
    this.#written = 0;
  }

  /**
   * The commands to write now; `settle` is to be told what became of them. A repeat always goes the fenced way: much
   * time may have passed since the first write.
   * @param isInDoubt whether the entries may have passed to another consumer (see `Lease`)
   */
  commands(isInDoubt: boolean): RedisCommand[] {
    const repeated = this.#written;
    this.#written = this.#ids.length;
    const forget = this.#recorded.forget(this.#ids);
    if (isInDoubt || repeated > 0) {
      this.#fencedWrite = { repeated: new Set(this.#ids.slice(0, repeated)) };
      return this.#chunks().map((ids) => this.#fenced(ids));
    }
    this.#fencedWrite = undefined;
    const { key, group } = this.#as;
    const commands: RedisCommand[] = this.#chunks().map((ids) => ['XACK', key, group, ...ids]);
    return forget === undefined ? commands : [...commands, forget];
  }

  /** @param outcomes of `commands` */
  settle(outcomes: readonly CommandOutcome[]): Settled {
    for (const outcome of outcomes) {
      if (outcome.state !== 'ok') return { state: 'failed', error: outcome.error };
    }
    this.clear();
    const { repeated } = this.#fencedWrite ?? {};
    if (repeated === undefined) return { state: 'confirmed', fenced: 0 };
    let fenced = 0;
    for (const outcome of outcomes) {
      const [others, gone] = outcome.state === 'ok' && Array.isArray(outcome.reply) ? outcome.reply : [];
      // What is not pending any more was acknowledged: by us, if we have tried before, or else by its new owner.
      fenced += idsIn(others).length + idsIn(gone).filter((id) => !repeated.has(id)).length;
    }
    return { state: 'confirmed', fenced };
  }

  /** The script removes their records too, but only of those that are ours. */
  #fenced(ids: readonly string[]): RedisCommand {
    const { key, group, consumerName } = this.#as;
    return ['EVAL', ACKNOWLEDGE_OWN, '2', key, attemptsKey(key, group), group, consumerName, ...ids];
  }

  #chunks(): string[][] {
    const chunks: string[][] = [];
    for (let start = 0; start < this.#ids.length; start += CHUNK) {
      chunks.push(this.#ids.slice(start, start + CHUNK));
    }
    return chunks;
  }
}
