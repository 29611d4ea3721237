import type { ConsumerCounters, StopReport } from '@weir/patterns';
import type { Nanoseconds } from '../core/units.js';
import type { DeliverySnapshot, SendSnapshot } from '../measure/ledger.js';
import type { ScheduleReport } from '../measure/pacer.js';
import type { Histogram, Resources } from '../measure/result.js';
import type { ClientLibrary } from '../redis/clients.js';
import type { WorkerApi } from './worker-channel.js';

/** What the two workers of a messaging trial offer, and the shapes that travel. */

/** A producer of a messaging trial, in a process of its own. */
export interface MessagingProducerApi<Settings = ProducerSettings> extends WorkerApi {
  /** Connects. Called once, first. */
  readonly prepare: (settings: Settings) => Promise<void>;
  /** Sends, closed loop, until `stopWarmUp`; answers how many messages that were. */
  readonly warmUp: (load: {
    readonly producerId: string;
    readonly inFlight: number;
  }) => Promise<{ sent: number }>;
  readonly stopWarmUp: (parameters: undefined) => void;
  /** Tells how many messages of this producer have been handled, in all, since its load began. */
  readonly handled: (parameters: { readonly total: number }) => void;
  /** Makes the measured load. */
  readonly run: (load: ProducerLoad) => Promise<ProducerReport>;
  /** Ends a load early: nothing more is sent. */
  readonly abort: (parameters: undefined) => void;
  readonly beginWindow: (parameters: undefined) => void;
  readonly endWindow: (parameters: undefined) => Resources;
  readonly close: (parameters: undefined) => Promise<void>;
}

export interface ProducerSettings {
  readonly pattern: string;
  readonly client: ClientLibrary;
  readonly url: string;
  readonly key: string;
  readonly payloadBytes: number;
  /** Messages in one send. */
  readonly bulk: number;
}

export type ProducerLoad = {
  readonly producerId: string;
} & (
  | {
      /** As fast as it goes, with at most `inFlight` messages between send and handled. */
      readonly mode: 'closed';
      readonly inFlight: number;
      readonly until: LoadEnd;
    }
  | {
      /** At a rate, whatever happens. */
      readonly mode: 'open';
      readonly perSecond: number;
      readonly until: LoadEnd;
    }
);

export type LoadEnd = { readonly messages: number } | { readonly durationMs: number };

export interface ProducerReport {
  readonly sends: SendSnapshot;
  readonly attempted: number;
  readonly acknowledged: number;
  /** Calls of `send`. */
  readonly writes: number;
  readonly firstSendNs: Nanoseconds;
  readonly lastAcknowledgedNs: Nanoseconds;
  /** Only for an open load. */
  readonly schedule: ScheduleReport | undefined;
  /** Only where the messages went through a service. */
  readonly requests?: RequestTimes;
}

/** What sending through a service took, all requests together. */
export interface RequestTimes {
  readonly count: number;
  /** From the request to its answer, as the sender sees it. */
  readonly totalNs: Nanoseconds;
  /** Of that, how long the service waited for Redis. */
  readonly redisNs: Nanoseconds;
}

/** A consumer of a messaging trial, in a process of its own. Emits `handled` ({@link HandledEvent}) as it works. */
export interface MessagingConsumerApi<Settings = ConsumerSettings> extends WorkerApi {
  /** Connects and opens the store. Called once, first. */
  readonly prepare: (settings: Settings) => Promise<void>;
  /** Starts reading; answers when every message sent from now on will be seen. */
  readonly start: (parameters: { readonly from: 'new' | 'beginning' }) => Promise<void>;
  readonly beginWindow: (parameters: undefined) => void;
  readonly endWindow: (parameters: undefined) => Resources;
  /** Ends reading, with or without what is still waiting. */
  readonly stop: (parameters: {
    readonly drain: boolean;
    readonly deadlineMs: number;
  }) => Promise<StopReport>;
  readonly report: (parameters: undefined) => ConsumerReport;
  readonly close: (parameters: undefined) => Promise<void>;
}

export interface ConsumerSettings {
  readonly pattern: string;
  readonly client: ClientLibrary;
  readonly url: string;
  readonly key: string;
  readonly consumerName: string;
  /** Most messages in one handler call. */
  readonly batch: number;
  readonly payloadBytes: number;
  /** Address of the message store. */
  readonly store: string;
  /** Producers whose messages count, in the order of the ledger. */
  readonly producers: readonly string[];
  /** Producers of the warm-up: handled like the others, and not counted. */
  readonly warmUpProducers: readonly string[];
}

/** Messages handled so far, by producer; warm-up and measured counted apart. */
export interface HandledEvent {
  readonly measured: readonly number[];
  readonly warmUp: readonly number[];
}

export interface ConsumerReport {
  readonly deliveries: DeliverySnapshot;
  /** Intended send to handled. */
  readonly latency: Histogram;
  /** When reading began, the last time. */
  readonly startedNs: Nanoseconds;
  readonly firstHandledNs: Nanoseconds;
  readonly lastHandledNs: Nanoseconds;
  /** Messages handled in each {@link TIMELINE_STEP_NS} since the first. */
  readonly timeline: readonly number[];
  /** Handler calls that held measured messages. */
  readonly batches: number;
  readonly damaged: number;
  readonly stored: number;
  readonly counters: ConsumerCounters;
  readonly errors: readonly string[];
}

/** Width of one step of the timeline. */
export const TIMELINE_STEP_NS = 5_000_000;
