import type { Worker } from '../../fleet/fleet.js';
import type { HandledEvent } from '../../workers/messaging-api.js';

/**
 * Adds up what the consumers say they have handled, by producer, and tells whoever waits. Where every consumer
 * gets every message (fan-out), a message counts once the slowest consumer has handled it.
 */
export class HandledBoard {
  readonly #events: HandledEvent[];
  readonly #fanOut: boolean;
  readonly #listeners = new Set<() => void>();

  constructor(consumers: readonly Worker[], producers: number, fanOut: boolean) {
    const none = Array.from({ length: producers }, () => 0);
    this.#events = consumers.map(() => ({ measured: none, warmUp: none }));
    this.#fanOut = fanOut;
    consumers.forEach((consumer, index) => {
      consumer.on('handled', (data) => {
        this.#events[index] = data as HandledEvent;
        for (const listener of this.#listeners) listener();
      });
    });
  }

  /** Handled so far, all producers together. */
  total(kind: keyof HandledEvent): number {
    return this.byProducer(kind).reduce((sum, count) => sum + count, 0);
  }

  byProducer(kind: keyof HandledEvent): number[] {
    const [first, ...others] = this.#events.map((event) => event[kind]);
    return (first ?? []).map((count, producer) =>
      others.reduce(
        (so, counts) => (this.#fanOut ? Math.min(so, counts[producer] ?? 0) : so + (counts[producer] ?? 0)),
        count,
      ),
    );
  }

  /** Calls `listener` at every change; returns a function that ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Resolves `true` once `count` messages have been handled, `false` when nothing more has been for `quietMs`:
   * what is still missing then is looked for by the audit.
   */
  reached(kind: keyof HandledEvent, count: number, quietMs: number, signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const finish = (outcome: () => void): void => {
        clearTimeout(quiet);
        stop();
        signal.removeEventListener('abort', aborted);
        outcome();
      };
      const aborted = (): void => finish(() => reject(signal.reason));
      const look = (): void => {
        quiet.refresh();
        if (this.total(kind) >= count) finish(() => resolve(true));
      };
      const quiet = setTimeout(() => finish(() => resolve(false)), quietMs);
      const stop = this.onChange(look);
      signal.addEventListener('abort', aborted, { once: true });
      if (signal.aborted) aborted();
      else look();
    });
  }
}
