import { setTimeout as after, setImmediate as immediately } from 'node:timers/promises';
import type { Nanoseconds } from '../core/units.js';
import { NANOSECONDS_PER_MILLISECOND, NANOSECONDS_PER_SECOND } from '../core/units.js';
import { monotonicNs } from './clock.js';

/** After a stall the schedule is made up at this many times its rate, so that catching up is no load test of its own. */
const CATCH_UP = 2;
/** A tick sends at most what catching up may send in this time: an event loop that turns every 20 ms keeps pace. */
const SLICE_NS = 10 * NANOSECONDS_PER_MILLISECOND;
/** Timers fire up to a millisecond late; anything nearer is waited for in naps. */
const TIMER_SLACK_MS = 2;
/** A nap blocks the process, so that it leaves its core to the system under test; replies wait no longer than this. */
const NAP_MS = 0.25;
/** At low rates an abort is noticed within this time. */
const LONGEST_PAUSE_MS = 50;
/** Late enough to count (METHOD, `missed-schedule`). */
const ALLOWANCE_NS = NANOSECONDS_PER_MILLISECOND;
const ALLOWANCE_SHARE = 0.1;

export interface PacerOptions {
  /** Sends per second, above 0. */
  readonly perSecond: number;
  /** Sends in all. */
  readonly count: number;
  /** The clock, for tests. */
  readonly now?: () => Nanoseconds;
  /** How the loop waits, for tests: turns the event loop at least once and comes back within `milliseconds`. */
  readonly wait?: (milliseconds: number) => Promise<void>;
}

/** How well the schedule was kept. */
export interface ScheduleReport {
  /** Sends that the schedule asked for up to the report. */
  readonly sends: number;
  /** Of these, sent later than the allowance or not at all. */
  readonly late: number;
  /** The larger of 1 ms and 10 % of the interval between sends. */
  readonly allowanceNs: Nanoseconds;
  readonly worstNs: Nanoseconds;
}

/**
 * Open load: send number i is intended for `start + i / rate`, whatever became of the sends before it. Latency is
 * measured from that intended time, so a stall of the system under test shows in every message it held up, and not
 * in one only ("coordinated omission": Gil Tene, *How NOT to Measure Latency*; wrk2).
 *
 * The generator can stall too. Then the intended times stay as they were, the missed sends are made up at twice the
 * rate, and the report tells how many were late. Waits too short for a timer are napped through, which keeps the
 * schedule to a fraction of a millisecond at a sixth of a core. The event loop counts naps as busy: of a paced producer
 * its utilisation says nothing, the lateness does.
 */
export class Pacer {
  readonly #intervalNs: Nanoseconds;
  readonly #count: number;
  readonly #now: () => Nanoseconds;
  readonly #wait: (milliseconds: number) => Promise<void>;
  readonly #allowanceNs: Nanoseconds;
  #startNs: Nanoseconds;
  #lastTickNs: Nanoseconds;
  #endedNs: Nanoseconds | undefined;
  #credit = 1;
  #next = 0;
  #late = 0;
  #worstNs = 0;

  constructor({ perSecond, count, now = monotonicNs, wait = waitOnEventLoop }: PacerOptions) {
    this.#intervalNs = NANOSECONDS_PER_SECOND / perSecond;
    this.#count = count;
    this.#now = now;
    this.#wait = wait;
    this.#allowanceNs = Math.max(ALLOWANCE_NS, ALLOWANCE_SHARE * this.#intervalNs);
    this.#startNs = now();
    this.#lastTickNs = this.#startNs;
  }

  /**
   * Takes the sends that are due, oldest first, and books how late they are.
   * @returns the intended time of each; at most as many as catching up at twice the rate allows
   */
  dueBy(now: Nanoseconds): Nanoseconds[] {
    const creditPerNs = CATCH_UP / this.#intervalNs;
    this.#credit = Math.min(
      this.#credit + (now - this.#lastTickNs) * creditPerNs,
      Math.max(1, SLICE_NS * creditPerNs),
    );
    this.#lastTickNs = now;
    const sends = Math.min(this.#scheduledBy(now) - this.#next, Math.floor(this.#credit));
    this.#credit -= sends;
    const intended: Nanoseconds[] = [];
    for (const end = this.#next + sends; this.#next < end; this.#next++) {
      const time = this.#intendedNs(this.#next);
      intended.push(time);
      this.#book(now - time);
    }
    return intended;
  }

  /**
   * Starts the schedule now and keeps to it until all is sent or `signal` is aborted.
   * @param send is given the intended times of the sends that are due; it must not wait for their replies
   */
  async run(send: (intended: Nanoseconds[]) => void, { signal }: { signal: AbortSignal }): Promise<void> {
    this.#startNs = this.#now();
    this.#lastTickNs = this.#startNs;
    while (this.#next < this.#count && !signal.aborted) {
      const due = this.dueBy(this.#now());
      if (due.length > 0) send(due);
      await this.#wait(due.length > 0 ? 0 : this.#pauseMs());
    }
    this.#endedNs = this.#now();
  }

  /** @param now sends that are overdue by then and were not made count as late; default: the end of `run`, or now */
  report(now: Nanoseconds = this.#endedNs ?? this.#now()): ScheduleReport {
    const scheduled = this.#scheduledBy(now);
    const overdue = scheduled - this.#next;
    return {
      sends: scheduled,
      late: this.#late + overdue,
      allowanceNs: this.#allowanceNs,
      worstNs: Math.max(this.#worstNs, overdue > 0 ? now - this.#intendedNs(this.#next) : 0),
    };
  }

  #intendedNs(index: number): Nanoseconds {
    return Math.round(this.#startNs + index * this.#intervalNs);
  }

  #scheduledBy(now: Nanoseconds): number {
    const scheduled = Math.floor((now - this.#startNs) / this.#intervalNs) + 1;
    return Math.max(this.#next, Math.min(this.#count, scheduled));
  }

  #pauseMs(): number {
    const left = (this.#intendedNs(this.#next) - this.#now()) / NANOSECONDS_PER_MILLISECOND;
    return Math.max(0, Math.min(LONGEST_PAUSE_MS, left));
  }

  #book(lateness: Nanoseconds): void {
    if (lateness > this.#allowanceNs) this.#late++;
    if (lateness > this.#worstNs) this.#worstNs = lateness;
  }
}

const pillow = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));

/** The event loop is turned in any case, so that what was written leaves and replies come in. */
async function waitOnEventLoop(milliseconds: number): Promise<void> {
  if (milliseconds >= TIMER_SLACK_MS + 1) return after(Math.floor(milliseconds) - TIMER_SLACK_MS);
  await immediately();
  if (milliseconds > 0) Atomics.wait(pillow, 0, 0, Math.min(milliseconds, NAP_MS));
}
