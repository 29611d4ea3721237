import type { Socket } from 'node:net';
import {
  type Bytes,
  type Milliseconds,
  NANOSECONDS_PER_MILLISECOND,
  type Nanoseconds,
} from '../../core/units.js';
import { monotonicNs } from '../../measure/clock.js';
import { callAt } from './precise-timer.js';

/**
 * Most bytes under way in one direction, as a network has a limit too. Above it the sender is stopped: at 5 ms that
 * is 12 GB/s, far beyond a loopback interface; during a partition it is what the sender may still get rid of.
 */
const MAX_UNDER_WAY: Bytes = 64 * 2 ** 20;

/** What travels: bytes, the end of the sender's half, or the loss of the sender. */
type Content =
  | { readonly type: 'data'; readonly bytes: Buffer }
  | { readonly type: 'end' }
  | { readonly type: 'reset' };
type Parcel = Content & { readonly dueNs: Nanoseconds };

export interface DelayedPipeOptions {
  /** Drawn anew for each piece that arrives. */
  readonly delayMs: () => Milliseconds;
  /** What to pass on of a piece, and whether the pipe breaks after it. Default: all of it. */
  readonly filter?: (bytes: Buffer) => Filtered;
  readonly onBytes: (count: number) => void;
  /** The loss of the sender has reached the receiver's end, or the filter broke the pipe. */
  readonly onBroken: () => void;
}

export interface Filtered {
  readonly bytes: Buffer;
  readonly broken: boolean;
}

/** One direction of a connection: takes from `source` at once, gives to `target` later, in the same order. */
export class DelayedPipe {
  readonly #source: Socket;
  readonly #target: Socket;
  readonly #options: DelayedPipeOptions;
  readonly #underWay: Parcel[] = [];
  #bytesUnderWay: Bytes = 0;
  #lastDueNs: Nanoseconds = 0;
  #cancelTimer: (() => void) | undefined;
  #held = false;
  #targetIsFull = false;
  #sawEnd = false;
  /** Nothing more is accepted. */
  #isBroken = false;

  constructor(source: Socket, target: Socket, options: DelayedPipeOptions) {
    this.#source = source;
    this.#target = target;
    this.#options = options;
    source.on('data', (bytes: Buffer) => this.#receive(bytes));
    source.on('end', () => {
      this.#sawEnd = true;
      this.#arrive({ type: 'end' });
    });
    source.on('close', (hadError: boolean) => {
      // After an orderly end the source closes too, and that is no loss.
      if (hadError || !this.#sawEnd) this.#arrive({ type: 'reset' });
    });
    target.on('drain', () => {
      this.#targetIsFull = false;
      this.#deliver();
    });
  }

  /** Delivers nothing more until {@link resume}. */
  hold(): void {
    this.#held = true;
  }

  resume(): void {
    this.#held = false;
    this.#deliver();
  }

  /** Forgets what is under way. */
  dispose(): void {
    this.#isBroken = true;
    this.#underWay.length = 0;
    this.#cancelTimer?.();
  }

  #receive(bytes: Buffer): void {
    this.#options.onBytes(bytes.length);
    const filtered = this.#options.filter?.(bytes);
    const passed = filtered?.bytes ?? bytes;
    if (passed.length > 0) this.#arrive({ type: 'data', bytes: passed });
    if (filtered?.broken) this.#arrive({ type: 'reset' });
  }

  #arrive(content: Content): void {
    if (this.#isBroken) return;
    if (content.type === 'data') this.#bytesUnderWay += content.bytes.length;
    if (content.type === 'reset') this.#isBroken = true;
    this.#lastDueNs = Math.max(
      this.#lastDueNs,
      monotonicNs() + this.#options.delayMs() * NANOSECONDS_PER_MILLISECOND,
    );
    this.#underWay.push({ ...content, dueNs: this.#lastDueNs });
    this.#deliver();
  }

  #deliver(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    while (!this.#held && !this.#targetIsFull) {
      const [next] = this.#underWay;
      if (next === undefined) break;
      if (next.dueNs > monotonicNs()) {
        this.#cancelTimer = callAt(next.dueNs, () => this.#deliver());
        break;
      }
      this.#underWay.shift();
      this.#handOver(next);
    }
    this.#regulate();
  }

  #handOver(parcel: Parcel): void {
    switch (parcel.type) {
      case 'data':
        this.#bytesUnderWay -= parcel.bytes.length;
        // What can no longer be received is lost, as on a network.
        if (this.#target.writable) this.#targetIsFull = !this.#target.write(parcel.bytes);
        return;
      case 'end':
        this.#target.end();
        return;
      case 'reset':
        this.#options.onBroken();
    }
  }

  /** Back-pressure: the source is read no faster than the target takes. */
  #regulate(): void {
    if (this.#targetIsFull || this.#bytesUnderWay >= MAX_UNDER_WAY) this.#source.pause();
    else if (this.#source.isPaused()) this.#source.resume();
  }
}
