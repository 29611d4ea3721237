import { monotonicNs, type Nanoseconds } from '../lab.js';
import { sequenceOf } from './bodies.js';

interface Awaited {
  readonly total: number;
  readonly reached: (atNs: Nanoseconds) => void;
}

/** Which messages were handled, and when the last of a given number was. On the hot path: once per message. */
export class Receipts {
  readonly #seen: Uint8Array;
  #distinct = 0;
  #repeated = 0;
  #foreign = 0;
  #awaited: Awaited | undefined;

  /** @param capacity messages of the whole trial; a sequence number beyond is foreign */
  constructor(capacity: number) {
    this.#seen = new Uint8Array(capacity);
  }

  get distinct(): number {
    return this.#distinct;
  }

  /** Deliveries that should not have been: no fault is injected here, so one of them voids the trial. */
  get wrong(): { readonly repeated: number; readonly foreign: number } {
    return { repeated: this.#repeated, foreign: this.#foreign };
  }

  add(body: string | Uint8Array): void {
    const sequence = sequenceOf(body);
    const seen = this.#seen[sequence];
    if (seen === undefined) this.#foreign++;
    else if (seen > 0) this.#repeated++;
    else {
      this.#seen[sequence] = 1;
      this.#distinct++;
      if (this.#distinct === this.#awaited?.total) this.#awaited.reached(monotonicNs());
    }
  }

  /** Resolves with the time at which `total` different messages were handled; ask before they are sent. */
  reach(total: number): Promise<Nanoseconds> {
    return new Promise((reached) => {
      this.#awaited = { total, reached };
    });
  }
}
