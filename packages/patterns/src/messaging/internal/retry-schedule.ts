/** With so many messages waiting for a retry nothing new is taken: something is wrong with all of them. */
export const MOST_HELD = 1000;
/** Wait before a failed dead-letter move is tried again, in milliseconds. */
export const MOVE_AGAIN_MS = 1000;

/** A message that failed and what is to be done with it next. */
export interface Held {
  readonly id: string;
  readonly raw: Buffer;
  /** Attempts made so far. */
  readonly attempts: number;
  /** Why the last attempt failed. */
  readonly error: Error;
  readonly next: 'handle' | 'dead-letter';
  /** When, by `performance.now()`. */
  readonly dueAt: number;
  /** It may be in the dead letters already: an answer was lost. Default false. */
  readonly isMoveInDoubt?: boolean;
}

/**
 * Messages that wait for another attempt. Few and short-lived (a retry delay each), so a plain map by entry id
 * does; the id is also what recognises them when pending entries are read again.
 */
export class RetrySchedule {
  readonly #held = new Map<string, Held>();

  get size(): number {
    return this.#held.size;
  }

  has(id: string): boolean {
    return this.#held.has(id);
  }

  put(held: Held): void {
    this.#held.set(held.id, held);
  }

  /** @returns whether it was there */
  remove(id: string): boolean {
    return this.#held.delete(id);
  }

  all(): Held[] {
    return [...this.#held.values()];
  }

  /** Those whose time has come, longest waiting first. They stay until removed or put anew. */
  due(now: number): Held[] {
    return [...this.#held.values()]
      .filter((held) => held.dueAt <= now)
      .sort((one, other) => one.dueAt - other.dueAt);
  }

  /** Milliseconds until the next is due; `undefined` when none waits. */
  nextDueIn(now: number): number | undefined {
    let next: number | undefined;
    for (const held of this.#held.values()) {
      const wait = Math.max(0, held.dueAt - now);
      if (next === undefined || wait < next) next = wait;
    }
    return next;
  }
}
