import type { Nanoseconds } from '../../core/units.js';
import { DeliveryLedger, type DeliverySnapshot } from '../../measure/ledger.js';
import type { HandledMessage } from '../../workers/fault-api.js';

interface Entry extends HandledMessage {
  /** Name of the consumer; a process that took the place of another has its name. */
  readonly consumer: string;
}

/** Everything the consumers of a trial handled, in the order in which it came to be known. It outlives their processes. */
export class Journal {
  readonly #entries: Entry[] = [];
  readonly #distinct = new Map<string, Set<number>>();
  #grownAtMs = performance.now();

  add(consumer: string, messages: readonly HandledMessage[]): void {
    for (const message of messages) {
      this.#entries.push({ ...message, consumer });
      const known = this.#distinct.get(message.producer) ?? new Set();
      this.#distinct.set(message.producer, known.add(message.sequence));
    }
    this.#grownAtMs = performance.now();
  }

  get size(): number {
    return this.#entries.length;
  }

  /** Messages of the producer that were handled at least once. */
  handledOf(producer: string): number {
    return this.#distinct.get(producer)?.size ?? 0;
  }

  /** Messages of all producers that were handled at least once. */
  get distinct(): number {
    return [...this.#distinct.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** How long nothing has come. */
  get quietMs(): number {
    return performance.now() - this.#grownAtMs;
  }

  /** For the ledger: one snapshot per consumer. */
  deliveries(producer: string, consumers: readonly string[]): DeliverySnapshot[] {
    return consumers.map((name) => {
      const ledger = new DeliveryLedger(1);
      for (const entry of this.#of(producer)) {
        if (entry.consumer === name) ledger.record(0, entry.sequence);
      }
      return ledger.snapshot();
    });
  }

  /**
   * Messages whose first delivery came after that of a later message. A repeated delivery is no reordering: whoever
   * recognises repeats has seen the messages in order.
   */
  reordered(producer: string): number {
    const seen = new Set<number>();
    let highest = -1;
    let reordered = 0;
    for (const { sequence } of this.#of(producer)) {
      if (seen.has(sequence)) continue;
      seen.add(sequence);
      if (sequence < highest) reordered++;
      highest = Math.max(highest, sequence);
    }
    return reordered;
  }

  /** When the first message that was sent at that time or later was handled. */
  firstHandledSentAfter(time: Nanoseconds): Nanoseconds | undefined {
    const handled = this.#entries.filter(({ sentNs }) => sentNs >= time).map(({ handledNs }) => handledNs);
    return handled.length === 0 ? undefined : Math.min(...handled);
  }

  /** Bodies of another length than that. */
  damaged(bytes: number): number {
    return this.#entries.filter((entry) => entry.bytes !== bytes).length;
  }

  #of(producer: string): Entry[] {
    return this.#entries.filter((entry) => entry.producer === producer);
  }
}
