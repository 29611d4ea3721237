import { NANOSECONDS_PER_MILLISECOND, type Nanoseconds } from '../core/units.js';
import { monotonicNs } from '../measure/clock.js';
import { LatencyHistogram } from '../measure/histogram.js';
import { type PointLoadReport, TENTHS } from './point-api.js';

/** Tells the runner of progress this often. */
const TELL_EVERY_NS = 100 * NANOSECONDS_PER_MILLISECOND;

/** Counts answers, and measures those of the window that {@link begin} opens. */
export class AnswerWindow {
  readonly #lengthNs: Nanoseconds;
  readonly #tell: (answered: number) => void;
  readonly #tenths = new Array<number>(TENTHS).fill(0);
  readonly #latency = new LatencyHistogram();
  readonly #service = new LatencyHistogram();
  readonly #statuses: Record<string, number> = {};
  #beganNs: Nanoseconds | undefined;
  #toldNs = 0;
  #succeeded = 0;
  #refused = 0;

  /** @param tell hears how many requests have been answered so far, ten times a second */
  constructor(lengthMs: number, tell: (answered: number) => void) {
    this.#lengthNs = lengthMs * NANOSECONDS_PER_MILLISECOND;
    this.#tell = tell;
  }

  get isOpen(): boolean {
    return this.#beganNs !== undefined;
  }

  begin(): void {
    this.#beganNs ??= monotonicNs();
  }

  /** Books an answer that came now. */
  answered(status: number, latencyNs: Nanoseconds, serviceNs?: Nanoseconds): void {
    const now = monotonicNs();
    const succeeded = status >= 200 && status < 300;
    if (succeeded) this.#succeeded++;
    else this.#refused++;
    this.#statuses[status] = (this.#statuses[status] ?? 0) + 1;
    if (now - this.#toldNs >= TELL_EVERY_NS) {
      this.#toldNs = now;
      this.#tell(this.#succeeded + this.#refused);
    }
    if (this.#beganNs === undefined) return;
    const tenth = Math.floor((TENTHS * (now - this.#beganNs)) / this.#lengthNs);
    if (tenth >= TENTHS) {
      // Sent within the window and answered after it: no part of the rate, but of an open load's latency.
      if (serviceNs === undefined) return;
    } else if (succeeded) {
      this.#tenths[tenth] = (this.#tenths[tenth] ?? 0) + 1;
    }
    this.#latency.record(latencyNs);
    if (serviceNs !== undefined) this.#service.record(serviceNs);
  }

  /** What is the same in both kinds of load. */
  report(attempted: number): Omit<PointLoadReport, 'service' | 'schedule'> {
    return {
      attempted,
      succeeded: this.#succeeded,
      refused: this.#refused,
      statuses: this.#statuses,
      tenths: this.#tenths,
      windowNs: this.#lengthNs,
      latency: this.#latency.encode(),
    };
  }

  /** Service times, of an open load. */
  serviceTimes(): NonNullable<PointLoadReport['service']> {
    return this.#service.encode();
  }
}
