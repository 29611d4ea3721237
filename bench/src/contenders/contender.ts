/**
 * The contract of a contender: one way to hand messages from one process to another through Redis. Each is one
 * file, and is used the way its own documentation recommends for speed.
 *
 * Sender and receiver are opened in processes of their own that serve one trial and end with it, so nothing here
 * has to be closed.
 */
export interface Contender {
  /** As in tables and details: `BullMQ 6.7`. */
  readonly name: string;
  /** Resolves when it is connected and nothing is left to be set up by the first `send`. */
  openSender(url: string): Promise<Sender>;
  /** Absent where the bench only measures sending. */
  readonly openReceiver?: (url: string, options: ReceiverOptions) => Promise<Receiver>;
}

export interface Sender {
  /**
   * Sends one bulk with the contender's own means for many at once.
   * Resolves when Redis has acknowledged all; rejects when it did not acknowledge one of them.
   */
  send(bodies: readonly string[]): Promise<void>;
  /** Messages that are in Redis for a receiver, handled ones included where the medium keeps them; 0 for a channel. */
  waiting(): Promise<number>;
}

export interface ReceiverOptions {
  /** Most messages in one read or handler call, for those that read batches. */
  readonly batch: number;
  /** Most jobs in work at a time, for those that hand out jobs one by one. */
  readonly concurrency: number;
}

export interface Receiver {
  /**
   * Starts with the oldest message that is there, and goes on. Resolves when every message, sent before or from
   * now on, will be handled. Acknowledges what was handled and removes it where that is the medium's way.
   */
  start(handle: Handle): Promise<void>;
}

/** Called once for each message, as it comes out of the contender. Never throws, never waits. */
export type Handle = (body: string | Uint8Array) => void;

/** The key, channel or queue of a trial; the server is empty before each. */
export const KEY = 'bench';
