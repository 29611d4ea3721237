import type { ConsumerCounters } from '@weir/patterns';
import type { Nanoseconds } from '../core/units.js';
import type { CrashPoint, HandlerFault } from '../faults/fault.js';
import type { ClientLibrary } from '../redis/clients.js';
import type { WorkerApi } from './worker-channel.js';

/**
 * A consumer of a fault trial, in a process of its own that may be killed at any moment. What it handled is told to the
 * runner message by message (event `handled`, {@link HandledMessage}s) before the handler ends, because it may not live
 * to be asked. SIGTERM makes it stop as a service would, and end.
 */
export interface FaultConsumerApi extends WorkerApi {
  /** Connects and opens the store. Called once, first. */
  readonly prepare: (settings: FaultConsumerSettings) => Promise<void>;
  readonly start: (parameters: { readonly from: 'new' | 'beginning' }) => Promise<void>;
  /** Lets the handler that stands at the trap go on (event `trapped`); a trap nobody stands at is taken away. */
  readonly release: (parameters: undefined) => void;
  /** From now on the handler gets along with every message. */
  readonly mend: (parameters: undefined) => void;
  readonly setStoreDown: (parameters: { readonly isDown: boolean }) => void;
  /** Keeps the event loop busy for so long. */
  readonly block: (parameters: { readonly forMs: number }) => void;
  readonly stop: (parameters: {
    readonly drain: boolean;
    readonly deadlineMs: number;
  }) => Promise<{ readonly drained: boolean; readonly unfinished: number }>;
  readonly counters: (parameters: undefined) => ConsumerCounters;
  readonly errors: (parameters: undefined) => readonly string[];
}

export interface FaultConsumerSettings {
  readonly pattern: string;
  readonly client: ClientLibrary;
  readonly url: string;
  readonly key: string;
  readonly consumerName: string;
  readonly batch: number;
  readonly blockMs: number;
  readonly leaseMs: number;
  readonly retryDelaysMs: readonly number[];
  /** Address of the message store. */
  readonly store: string;
  /** The handler keeps the offset in the store's transaction. Only for patterns that can. */
  readonly offsetInStore: boolean;
  /** Producer whose messages meet faults; those of others are only handled. */
  readonly producer: string;
  readonly handler: HandlerRule | undefined;
  readonly trap: Trap | undefined;
}

export interface HandlerRule {
  readonly fault: HandlerFault;
  /** `throws-once`: every so many messages. */
  readonly every: number;
  /** `poison`: this one. */
  readonly sequence: number;
}

/** Where a handler stops and waits to be released; once. */
export interface Trap {
  readonly sequence: number;
  readonly point: Exclude<CrashPoint, 'mid-pipeline'>;
}

/** One message whose handling succeeded. */
export interface HandledMessage {
  readonly producer: string;
  readonly sequence: number;
  readonly attempt: number;
  /** When it was sent, and when it was handled, by the monotonic clock. */
  readonly sentNs: Nanoseconds;
  readonly handledNs: Nanoseconds;
  /** The body has the length it was sent with. */
  readonly bytes: number;
}
