/** What a consumer process knows of the messages it handled; plain data that survives structured cloning. */
export interface DeliverySnapshot {
  /** By producer, in the order agreed with the consumer: deliveries of each sequence number, at most 255. */
  readonly counts: readonly Uint8Array[];
  /** Deliveries beyond the 255 a byte can hold. */
  readonly overflow: readonly DeliveryOverflow[];
  readonly outOfOrder: number;
  readonly unexpected: number;
}

export interface DeliveryOverflow {
  readonly producer: number;
  readonly sequence: number;
  readonly extra: number;
}

/** A byte saturates here; what comes on top is kept apart, so counts stay exact. */
const FULL = 255;
const FIRST_CAPACITY = 1024;
/** A sequence number beyond this is no message of ours: one damaged number must not claim all memory. */
const MOST_MESSAGES = 2 ** 28;

/**
 * Counts the deliveries of every message at one consumer, one byte a message: ten million messages take ten megabytes.
 * On the hot path: once per handled message.
 */
export class DeliveryLedger {
  readonly #producers: ProducerDeliveries[];
  #outOfOrder = 0;
  #unexpected = 0;

  /** @param producers how many producers the trial has; they are known by their index */
  constructor(producers: number) {
    this.#producers = Array.from({ length: producers }, () => new ProducerDeliveries());
  }

  /**
   * Books one delivery whose handler succeeded.
   *
   * A delivery is out of order when this consumer has already handled a later message of the same producer; a repeated
   * delivery can be that too.
   */
  record(producerIndex: number, sequence: number): 'new' | 'duplicate' | 'unexpected' {
    const producer = this.#producers[producerIndex];
    if (producer === undefined || !isSequence(sequence)) {
      this.#unexpected++;
      return 'unexpected';
    }
    if (sequence < producer.highest) this.#outOfOrder++;
    return producer.add(sequence) ? 'new' : 'duplicate';
  }

  /** Books a message that no producer of this trial sent. */
  unexpected(): void {
    this.#unexpected++;
  }

  /** A copy of the state now; the ledger can go on. */
  snapshot(): DeliverySnapshot {
    return {
      counts: this.#producers.map((producer) => producer.counts()),
      overflow: this.#producers.flatMap((deliveries, producer) =>
        [...deliveries.overflow].map(([sequence, extra]) => ({ producer, sequence, extra })),
      ),
      outOfOrder: this.#outOfOrder,
      unexpected: this.#unexpected,
    };
  }
}

class ProducerDeliveries {
  readonly overflow = new Map<number, number>();
  highest = -1;
  #bytes = new Uint8Array(FIRST_CAPACITY);

  /** @returns true for the first delivery of that message */
  add(sequence: number): boolean {
    if (sequence >= this.#bytes.length) this.#grow(sequence + 1);
    if (sequence > this.highest) this.highest = sequence;
    const before = this.#bytes[sequence] ?? 0;
    if (before < FULL) this.#bytes[sequence] = before + 1;
    else this.overflow.set(sequence, (this.overflow.get(sequence) ?? 0) + 1);
    return before === 0;
  }

  counts(): Uint8Array {
    return this.#bytes.slice(0, this.highest + 1);
  }

  #grow(needed: number): void {
    let capacity = this.#bytes.length;
    while (capacity < needed) capacity *= 2;
    const larger = new Uint8Array(capacity);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

function isSequence(sequence: number): boolean {
  return Number.isInteger(sequence) && sequence >= 0 && sequence < MOST_MESSAGES;
}
