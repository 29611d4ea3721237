import type { ConsumerCounters } from '../pattern.js';

/** The live counters of one run of a consumer. Plain fields: they are written for every message. */
export class Counters {
  received = 0;
  handled = 0;
  errors = 0;
  retries = 0;
  deadLettered = 0;
  dropped = 0;
  inFlight = 0;
  trimmed = 0;
  takenOver = 0;
  fenced = 0;
  rewinds = 0;
  disconnects = 0;
  batches = 0;
  #lastPoll = performance.now();

  /** Redis has answered, or a subscription has shown that it lives. */
  polled(): void {
    this.#lastPoll = performance.now();
  }

  /** Messages were taken from Redis. */
  take(count: number): void {
    this.received += count;
    this.inFlight += count;
  }

  snapshot(): ConsumerCounters {
    return {
      received: this.received,
      handled: this.handled,
      errors: this.errors,
      retries: this.retries,
      deadLettered: this.deadLettered,
      dropped: this.dropped,
      inFlight: this.inFlight,
      trimmed: this.trimmed,
      takenOver: this.takenOver,
      fenced: this.fenced,
      rewinds: this.rewinds,
      disconnects: this.disconnects,
      batches: this.batches,
      lastPollAgeMs: performance.now() - this.#lastPoll,
    };
  }
}
