const FIRST_MS = 50;
const LONGEST_MS = 2000;

/** Waits that double from 50 ms to 2 s, with jitter, until something works again. Never a hot loop. */
export class Backoff {
  #failures = 0;

  next(): number {
    const longest = Math.min(FIRST_MS * 2 ** this.#failures++, LONGEST_MS);
    return longest * (0.5 + Math.random() / 2);
  }

  reset(): void {
    this.#failures = 0;
  }
}
