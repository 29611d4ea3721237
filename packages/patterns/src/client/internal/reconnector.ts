import { InvalidOptionError, NotConnectedError } from '../../errors.js';
import type { OpenWire, Wire } from './wire.js';

/** First and longest wait before a new attempt, in milliseconds; it doubles in between. */
const FIRST_WAIT_MS = 20;
const LONGEST_WAIT_MS = 2000;

export interface ReconnectorEvents {
  /** The wire is gone. Called once per loss. */
  readonly onLost: (error: Error | undefined) => void;
  /** Prepares a new wire before anybody else can write on it (subscribing, say). A failure counts as a loss. */
  readonly prepare?: (wire: Wire) => Promise<void>;
  /** A new wire is in place after a loss. Called before anything is written on it. */
  readonly onRestored: () => void;
}

/**
 * Keeps one wire alive: opens it, notices its loss, opens the next with exponential backoff and jitter (so that
 * the clients of a restarted server do not all come back in the same millisecond), until closed.
 *
 * We do this ourselves because a library's own reconnection cannot be told to drop a socket that is silent, and
 * because a wire that ends for good leaves no room for a silent retry.
 */
export class Reconnector {
  readonly #openWire: OpenWire;
  readonly #name: string;
  readonly #events: ReconnectorEvents;
  #wire: Wire | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;
  /** Counts openings, so that a late loss of an earlier wire is told from the loss of this one. */
  #generation = 0;

  constructor(openWire: OpenWire, name: string, events: ReconnectorEvents) {
    this.#openWire = openWire;
    this.#name = name;
    this.#events = events;
  }

  /** The usable wire, `undefined` while there is none. */
  get wire(): Wire | undefined {
    return this.#wire;
  }

  async open(): Promise<void> {
    try {
      this.#wire = await this.#connect();
    } catch (error) {
      if (error instanceof InvalidOptionError) throw error;
      throw new NotConnectedError(this.#name, { cause: error });
    }
  }

  /** Destroys the wire so that nothing more can arrive on it, and opens the next. Does nothing without a wire. */
  drop(reason: Error): void {
    const wire = this.#wire;
    if (wire === undefined || this.#closed) return;
    wire.destroy();
    this.#lost(this.#generation, reason);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#wire?.destroy();
    this.#wire = undefined;
  }

  async #connect(): Promise<Wire> {
    const generation = ++this.#generation;
    let lostEarly: { readonly error: Error | undefined } | undefined;
    const wire = await this.#openWire(this.#name, (error) => {
      lostEarly = { error };
      this.#lost(generation, error);
    });
    try {
      await this.#events.prepare?.(wire);
      if (lostEarly !== undefined)
        throw lostEarly.error ?? new Error('connection lost while it was prepared');
      if (this.#closed) throw new Error('closed');
      return wire;
    } catch (error) {
      wire.destroy();
      throw error;
    }
  }

  #lost(generation: number, error: Error | undefined): void {
    if (generation !== this.#generation || this.#wire === undefined || this.#closed) return;
    this.#wire = undefined;
    this.#events.onLost(error);
    this.#retry(0);
  }

  #retry(attempt: number): void {
    if (this.#closed) return;
    const longest = Math.min(FIRST_WAIT_MS * 2 ** attempt, LONGEST_WAIT_MS);
    const waitMs = longest * (0.5 + Math.random() / 2);
    this.#timer = setTimeout(() => {
      this.#connect().then(
        (wire) => {
          this.#wire = wire;
          this.#events.onRestored();
        },
        () => this.#retry(attempt + 1),
      );
    }, waitMs);
  }
}
