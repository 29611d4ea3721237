/**
 * The closed loop of a capacity trial: how many messages may be under way, from send to handled, at once. Without
 * it a fast producer would pile up messages in Redis, and the figure would be that of the pile, not of the flow.
 */
export class ClosedWindow {
  readonly #size: number;
  #sent = 0;
  #settled = 0;
  #resolve: (() => void) | undefined;

  constructor(size: number) {
    this.#size = size;
  }

  get free(): number {
    return this.#size - (this.#sent - this.#settled);
  }

  take(count: number): void {
    this.#sent += count;
  }

  /** Messages of this producer handled or given up so far, in all. */
  settle(total: number): void {
    if (total <= this.#settled) return;
    this.#settled = total;
    this.wake();
  }

  /** A send that failed will never be handled: its place is free again. */
  giveBack(count: number): void {
    this.#sent -= count;
    this.wake();
  }

  /** Resolves at the next change. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  /** Wakes whoever waits: something changed, or the load is over. */
  wake(): void {
    const resolve = this.#resolve;
    this.#resolve = undefined;
    resolve?.();
  }
}
