import type { Nanoseconds } from '../core/units.js';
import { monotonicNs } from '../measure/clock.js';
import type { HandledEvent } from './messaging-api.js';
import type { Recorder } from './recorder.js';

/** The runner hears of progress this often; the closed loop's window is many times what is handled meanwhile. */
const TELL_EVERY_NS = 2_000_000;
const TELL_TAIL_MS = 10;

/** Tells the runner how much has been handled: while it goes on, and once more after the last message. */
export class ProgressTeller {
  readonly #recorder: Recorder;
  readonly #tell: (event: HandledEvent) => void;
  #toldNs = 0;
  #tail: NodeJS.Timeout | undefined;

  constructor(recorder: Recorder, tell: (event: HandledEvent) => void) {
    this.#recorder = recorder;
    this.#tell = tell;
  }

  start(): void {
    clearInterval(this.#tail);
    this.#tail = setInterval(() => this.#tellNow(monotonicNs()), TELL_TAIL_MS);
  }

  changed(now: Nanoseconds): void {
    if (now - this.#toldNs >= TELL_EVERY_NS) this.#tellNow(now);
  }

  stop(): void {
    clearInterval(this.#tail);
    this.#tell(this.#recorder.handled());
  }

  #tellNow(now: Nanoseconds): void {
    this.#toldNs = now;
    if (this.#recorder.takeChanged()) this.#tell(this.#recorder.handled());
  }
}
