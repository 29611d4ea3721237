import type { Milliseconds } from '../../core/units.js';

/**
 * How long a run still takes. The trials that were made tell better than the estimate before the first one; the
 * estimate stands in until then.
 */
export class TimeLeft {
  readonly #estimateMs: Milliseconds;
  readonly #now: () => Milliseconds;
  readonly #startedAt: Milliseconds;
  #finished = 0;
  #of = 0;

  /** @param now a clock in milliseconds, for tests */
  constructor(estimateMs: Milliseconds, now: () => Milliseconds = () => performance.now()) {
    this.#estimateMs = estimateMs;
    this.#now = now;
    this.#startedAt = now();
  }

  /** A trial is done: `finished` of `of`. */
  finish(finished: number, of: number): void {
    this.#finished = finished;
    this.#of = of;
  }

  /** Never below zero. */
  milliseconds(): Milliseconds {
    const passed = this.#now() - this.#startedAt;
    if (this.#finished === 0) return Math.max(0, this.#estimateMs - passed);
    return Math.max(0, (passed / this.#finished) * (this.#of - this.#finished));
  }
}
