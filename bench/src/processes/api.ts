import type { ContenderName } from '../contenders/load-contender.js';
import type { Nanoseconds, WorkerApi } from '../lab.js';

/** What the bench asks of the process that sends. */
export interface SenderApi extends WorkerApi {
  /** Connects. Called once, first. */
  readonly prepare: (settings: SenderSettings) => Promise<void>;
  /** Sends a run of messages; answers when Redis has acknowledged the last. */
  readonly send: (load: Load) => Promise<SendReport>;
  /** Sends one message after the other, each when the one before was handled; answers with the times it took. */
  readonly sendOneByOne: (load: { readonly from: number; readonly count: number }) => Promise<LatencyReport>;
  /** The message in flight was handled. */
  readonly handled: (event: HandledEvent) => void;
  readonly waiting: (parameters: undefined) => Promise<number>;
  readonly memory: (parameters: undefined) => MemoryReport;
}

export interface SenderSettings {
  readonly contender: ContenderName;
  readonly url: string;
}

export interface Load {
  /** Sequence number of the first message. */
  readonly from: number;
  readonly count: number;
  /** Messages in one `send`. */
  readonly bulk: number;
  /** Calls of `send` that are unanswered at a time, at most. */
  readonly bulksInFlight: number;
  /** `before`: bodies are made before the window. `during`: as they are sent, so that they do not fill the memory. */
  readonly makeBodies: 'before' | 'during';
}

export interface SendReport {
  readonly firstSendNs: Nanoseconds;
  readonly lastAcknowledgedNs: Nanoseconds;
}

export interface LatencyReport {
  /** From before the call of `send` to the handler's, in the order of sending. */
  readonly latenciesNs: readonly Nanoseconds[];
}

export interface MemoryReport {
  /** Resident set size of the process. */
  readonly rssBytes: number;
}

/** What the bench asks of the process that receives. Emits `handled` ({@link HandledEvent}) when told to. */
export interface ReceiverApi extends WorkerApi {
  /** Connects. Called once, first. */
  readonly prepare: (settings: ReceiverSettings) => Promise<void>;
  /** Starts receiving; answers when it does. */
  readonly start: (parameters: undefined) => Promise<{ readonly startedNs: Nanoseconds }>;
  /** Answers when `total` different messages of the trial were handled. Asked before they are sent. */
  readonly reach: (parameters: { readonly total: number }) => Promise<{ readonly atNs: Nanoseconds }>;
  readonly report: (parameters: undefined) => ReceiptReport;
  readonly memory: (parameters: undefined) => MemoryReport;
}

export interface ReceiverSettings {
  readonly contender: ContenderName;
  readonly url: string;
  readonly batch: number;
  readonly concurrency: number;
  /** Messages of the whole trial. */
  readonly capacity: number;
  /** Emit `handled` for each message. */
  readonly tellEach: boolean;
}

export interface HandledEvent {
  readonly atNs: Nanoseconds;
}

export interface ReceiptReport {
  readonly distinct: number;
  readonly repeated: number;
  readonly foreign: number;
}
