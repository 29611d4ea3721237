/**
 * Limits how many messages are written and not yet answered. Waiting is first come, first served, so that the
 * order of sends is the order of writes.
 */
export class InFlightWindow {
  readonly #size: number;
  readonly #waiting: { readonly count: number; readonly enter: () => void }[] = [];
  #used = 0;

  constructor(size: number) {
    this.#size = size;
  }

  get used(): number {
    return this.#used;
  }

  /** Resolves when there is room. A count above the size enters alone. */
  enter(count: number): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#fits(count)) {
      this.#used += count;
      return undefined;
    }
    return new Promise((enter) => {
      this.#waiting.push({ count, enter });
    });
  }

  leave(count: number): void {
    this.#used -= count;
    for (let next = this.#waiting[0]; next !== undefined && this.#fits(next.count); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#used += next.count;
      next.enter();
    }
  }

  #fits(count: number): boolean {
    return this.#used === 0 || this.#used + count <= this.#size;
  }
}
