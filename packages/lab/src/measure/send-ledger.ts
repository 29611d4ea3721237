/** What a producer process knows of its sends; plain data that survives structured cloning. */
export interface SendSnapshot {
  /** Sequence numbers 0 to `attempted` - 1 were handed to the pattern. */
  readonly attempted: number;
  readonly acknowledged: number;
  /** Sequence numbers of the sends that Redis refused or that were never written. */
  readonly failed: readonly number[];
  /** Sequence numbers of the sends that were written and never answered. */
  readonly unknown: readonly number[];
}

/**
 * The fate of every send of one producer. Acknowledged is the rule, so only the exceptions take memory. Sequence
 * numbers count up from 0 without a gap; the order in which sends are booked does not matter.
 */
export class SendLedger {
  readonly #exceptions = new Map<number, 'failed' | 'unknown'>();
  #booked = 0;
  #end = 0;

  /** Books `count` sends from `first` on. They count as acknowledged until {@link fail} says otherwise. */
  attempt(first: number, count: number): void {
    this.#booked += count;
    this.#end = Math.max(this.#end, first + count);
  }

  /** @param state `failed`: it is not in Redis. `unknown`: it may be. */
  fail(sequence: number, state: 'failed' | 'unknown'): void {
    this.#exceptions.set(sequence, state);
  }

  snapshot(): SendSnapshot {
    const of = (wanted: 'failed' | 'unknown'): number[] =>
      [...this.#exceptions].flatMap(([sequence, state]) => (state === wanted ? [sequence] : []));
    return {
      attempted: this.#end,
      acknowledged: this.#booked - this.#exceptions.size,
      failed: of('failed'),
      unknown: of('unknown'),
    };
  }
}
