import type { RedisClient } from '../client/redis-client.js';

/**
 * The contract of a messaging pattern: a way to hand messages from a producer to a consumer through Redis.
 *
 * A pattern is one file that exports one value of this type under the camel-case form of the file's name
 * (`stream-group.ts` exports `streamGroup`). That is all it takes to be offered, documented, tested by the
 * conformance suite and measured by the lab. See docs/adding-a-pattern.md.
 */
export interface MessagingPattern {
  /** Registered name; equals the file name: `stream-group`. */
  readonly name: string;
  /** One sentence for lists and help. */
  readonly summary: string;
  readonly capabilities: PatternCapabilities;
  /** Key or channel used when none is given. */
  readonly defaultKey: string;
  /** The Redis commands a message costs, for `weir list` and the declared-vs-observed check. */
  readonly commands: PatternCommands;
  createProducer(client: RedisClient, options?: ProducerOptions): Producer;
  createConsumer(client: RedisClient, options?: ConsumerOptions): Consumer;
  /**
   * Where messages are at this moment, as Redis sees it. The lab uses it to say where a missing message is, to
   * verify emptiness at the start and to see a backlog; services use it for lag.
   */
  inspect(client: RedisClient, options?: PatternOptions): Promise<PatternState>;
  /** Removes every key this pattern made under the key. Groups, processing lists, offsets and dead letters included. */
  destroy(client: RedisClient, options?: PatternOptions): Promise<void>;
  /** Only where `onHandlerError` ends in a dead letter: what was given up, to look at and to send again. */
  deadLetters?(client: RedisClient, options?: PatternOptions): DeadLetters;
  /**
   * Commands the server must know, upper case, beyond those every Redis has: `SPUBLISH` came with 7.0. A producer's
   * first send and a consumer's start throw UNSUPPORTED_SERVER where one is missing. Default: none.
   */
  readonly requires?: readonly string[];
}

/** What a pattern promises. Code asks these, never the name. */
export interface PatternCapabilities {
  /** `at-most-once`: may lose, never repeats. `at-least-once`: never loses what was acknowledged, may repeat. */
  readonly delivery: 'at-most-once' | 'at-least-once';
  /** Messages wait in Redis while no consumer runs. */
  readonly persistence: boolean;
  /** `total`: one consumer sees the order of sending. `none`: retries or the medium may reorder. */
  readonly ordering: 'total' | 'none';
  /** Every consumer gets every message. */
  readonly fanOut: boolean;
  /** Several consumers share the work, each message going to one of them. */
  readonly competingConsumers: boolean;
  /** A consumer started later can be given what was sent before (`from: 'beginning'`). */
  readonly replay: boolean;
  /** What becomes of a message whose handler throws. */
  readonly onHandlerError: 'drop' | 'retry-then-dead-letter' | 'retry-in-place';
  /**
   * What a consumer took and did not finish is given to another one of the group when it has shown no sign of life for
   * `leaseMs`; what the first one still acknowledges afterwards does not count. Default false.
   */
  readonly takeover?: boolean;
  /** Each consumer reads by an offset of its own and can keep it where `offset` says. Default false. */
  readonly storedOffset?: boolean;
}

export interface PatternCommands {
  /** Command per sent message or per write, upper case: `XADD`. `perMessage`: 1 when each message is one call. */
  readonly send: readonly CommandUse[];
  readonly receive: readonly CommandUse[];
  readonly acknowledge: readonly CommandUse[];
}

export interface CommandUse {
  readonly name: string;
  /** `message`: once per message. `batch`: once per write, read or acknowledged batch. */
  readonly per: 'message' | 'batch';
}

/** A message body: bytes. A string is sent as its UTF-8 bytes. */
export type MessageBody = string | Uint8Array;

/** A message as the handler sees it. */
export interface Message {
  /** The bytes that were sent. */
  readonly body: Buffer;
  /** Unique over all producers: `<producer>-<sequence>`; for a message written by other software, see `foreign`. */
  readonly id: string;
  /** Who sent it; the `producerId` option of the producer. */
  readonly producer: string;
  /** Counts up by one from 0 for each message of that producer. */
  readonly sequence: number;
  /** Which delivery this is, from 1. Above 1 the message was handed to a handler before. */
  readonly attempt: number;
  /**
   * True for a message that was not written by a weir producer: `body` is all of it, `producer` is empty,
   * `sequence` -1 and `id` the stream entry id or a digest of the place it was read from.
   */
  readonly foreign: boolean;
}

/**
 * Handles one batch (1 to `batch` messages). The batch succeeds when it returns or resolves; when it throws or
 * rejects, the pattern's `onHandlerError` applies. To fail single messages of a batch throw a `BatchError`.
 */
export type MessageHandler = (messages: readonly Message[], context: HandlerContext) => void | Promise<void>;

/** What a handler is told beside its messages. */
export interface HandlerContext {
  /**
   * Where the reader stands once this batch is done; only from a consumer whose offset the handler keeps
   * (`offset: { load }`). Store it in the transaction that stores the effects of the messages, all or nothing: after a
   * crash reading goes on behind exactly what was committed, so each message has its effect once.
   */
  readonly offset?: StoredOffset;
}

/** How far a reader has come. */
export interface StoredOffset {
  /** Who reads what: `<key>:<consumerName>`. One row for each is kept. */
  readonly reader: string;
  /** Id of the last entry that is done. Opaque; later ones of a reader replace earlier ones. */
  readonly position: string;
}

/** Where a consumer whose handler keeps the offset asks for it when it starts. */
export interface OffsetSource {
  /** @returns the position stored last for the reader; `undefined` when there is none: reading begins as `from` says. */
  load(reader: string): Promise<string | undefined>;
}

/** Thrown by a handler to say which messages of its batch failed; the others count as handled. */
export class BatchError extends Error {
  /** Index in the batch and the reason. */
  readonly failures: ReadonlyMap<number, Error>;

  constructor(failures: ReadonlyMap<number, Error>) {
    super(`${failures.size} messages of the batch failed`);
    this.name = 'BatchError';
    this.failures = failures;
  }
}

/**
 * Thrown by a handler when not the messages are at fault but what it depends on (a database that is down). The
 * consumer pauses `retryAfterMs` and hands over the same messages again; no attempt is used up.
 */
export class DependencyUnavailableError extends Error {
  readonly retryAfterMs: number;

  constructor(message: string, options?: ErrorOptions & { readonly retryAfterMs?: number }) {
    super(message, options);
    this.name = 'DependencyUnavailableError';
    this.retryAfterMs = options?.retryAfterMs ?? 1000;
  }
}

export interface PatternOptions {
  /** Key, stream or channel. Default: the pattern's `defaultKey`. */
  readonly key?: string;
  /** Consumer group, where the pattern has one. Default `weir`. */
  readonly group?: string;
}

export interface ProducerOptions extends PatternOptions {
  /** Stable name of this producer, without `-`, `:` or spaces, 1 to 32 characters. Default: 8 random ones. */
  readonly producerId?: string;
  /** Messages written and not yet answered before `send` waits. Default 10,000. */
  readonly maxInFlight?: number;
  /** A send is refused with LENGTH_CAP while the list or stream holds more. Default: none. */
  readonly maxLength?: number;
  /**
   * Streams only: entries that every group has acknowledged are trimmed now and then, except so many of the newest.
   * What the slowest group has not read or not acknowledged is never removed. Default: nothing is trimmed.
   */
  readonly keepHandled?: number;
  /** Largest body in bytes. Default 16 MiB. */
  readonly maxBodyBytes?: number;
  /** Deadline of a write in milliseconds. Default 5000. */
  readonly deadlineMs?: number;
}

export interface ProducerCounters {
  /** Messages handed to `send`. */
  readonly attempted: number;
  /** Acknowledged by Redis. */
  readonly acknowledged: number;
  readonly failed: number;
  /** Written, answer never came. */
  readonly unknown: number;
  readonly inFlight: number;
}

export interface SendReceipt {
  /** Sequence of the first body; the others follow without a gap. */
  readonly firstSequence: number;
  readonly count: number;
  /**
   * How many subscribers received each body, summed; only where the pattern can know (pub/sub). 0 means nobody
   * was listening and the messages are gone.
   */
  readonly receivers?: number;
}

export interface Producer {
  readonly id: string;
  /**
   * Sends many messages with one write (long ones are cut by count and bytes). Resolves when Redis has
   * acknowledged all of them.
   * @throws {SendError} some were not acknowledged: says which failed and which are unknown.
   * @throws {PatternError} CLOSED, BODY_TOO_LARGE or LENGTH_CAP: nothing was sent.
   */
  send(bodies: readonly MessageBody[]): Promise<SendReceipt>;
  counters(): ProducerCounters;
  /** Waits for what is in flight, then refuses further sends. Idempotent. */
  close(): Promise<void>;
}

export interface ConsumerOptions extends PatternOptions {
  /** Most messages in one handler call, 1 to 1000. Default 100. */
  readonly batch?: number;
  /**
   * Stable name of this consumer within its group, unique among those that run. Default `consumer-1`.
   * A restarted consumer of the same name finds its own unfinished work.
   */
  readonly consumerName?: string;
  /** How long a read waits for messages, in milliseconds. Default 1000. */
  readonly blockMs?: number;
  /** Waits before the attempts after the first, in milliseconds. Default [100, 200, 400]. */
  readonly retryDelaysMs?: readonly number[];
  /**
   * `new` starts after what is there now; `beginning` reads all that is kept. Default `new`. A reader that finds its
   * stored offset, and a group that exists, go on from there.
   */
  readonly from?: 'new' | 'beginning';
  /**
   * How long what a consumer took stays its own without a sign of life from it, in milliseconds; after that another
   * one takes it over. Renewed while a handler works, however long that takes. Longer than `blockMs`. Default 30,000, or
   * twice `blockMs` where that is more.
   * Only for patterns with `takeover`.
   */
  readonly leaseMs?: number;
  /**
   * Where the offset is kept, for patterns with `storedOffset`. `redis`: beside the stream, after the handler; a crash
   * repeats at most a batch. `memory`: nowhere; each start begins as `from` says. A source: by the handler, in its own
   * transaction (see {@link HandlerContext.offset}). Default `redis`.
   */
  readonly offset?: 'redis' | 'memory' | OffsetSource;
  /** Most messages held in the process before the pub/sub buffer drops the newest, counted. Default 100,000. */
  readonly maxBuffered?: number;
  /** Errors that the consumer survived (lost connections, error replies), for logs. */
  readonly onError?: (error: Error) => void;
}

export interface ConsumerCounters {
  /** Messages taken from Redis, re-deliveries included. */
  readonly received: number;
  /** Messages whose handler succeeded. */
  readonly handled: number;
  /** Handler calls that failed, per message. */
  readonly errors: number;
  /** Deliveries after the first attempt. */
  readonly retries: number;
  readonly deadLettered: number;
  /** Given up or dropped without a dead letter: the handler threw (at-most-once) or the buffer was full. */
  readonly dropped: number;
  /** Taken, handler not finished. */
  readonly inFlight: number;
  /** Messages the server trimmed before they were read, or pending entries that came back empty. */
  readonly trimmed: number;
  /** Messages taken over from a consumer that had gone silent. */
  readonly takenOver: number;
  /** Messages we handled after their lease had passed to another consumer: not acknowledged by us. */
  readonly fenced: number;
  /** Times the server came back with less than had been read, and the offset was set back. */
  readonly rewinds: number;
  /** Times the connection or subscription was lost. */
  readonly disconnects: number;
  /** Handler calls made. */
  readonly batches: number;
  /** Milliseconds since the last successful read, write or acknowledgement; health is this, not the socket. */
  readonly lastPollAgeMs: number;
}

export interface StopOptions {
  /** `true`: read and handle all that was sent before the stop, then end. `false`: finish what was taken. Default false. */
  readonly drain?: boolean;
  /** At most this long, in milliseconds. Default 30,000. */
  readonly deadlineMs?: number;
}

export interface StopReport {
  /** False when the deadline passed first. */
  readonly drained: boolean;
  /** Taken and neither handled nor given back. */
  readonly unfinished: number;
  readonly counters: ConsumerCounters;
}

export interface Consumer {
  /**
   * Connects, and resolves once every message sent from now on will be seen (the group exists, `$` is resolved,
   * the subscription is confirmed). Handler calls of one consumer never overlap.
   * @throws {PatternError} ALREADY_STARTED, or what Redis or the network answered.
   */
  start(handler: MessageHandler): Promise<void>;
  /**
   * Stops taking, finishes or returns what was taken, and reports the exact rest. An error while draining does
   * not end the drain.
   * @throws {PatternError} NOT_STARTED
   */
  stop(options?: StopOptions): Promise<StopReport>;
  counters(): ConsumerCounters;
}

/** Where messages are, counted by Redis. */
export interface PatternState {
  /** Keys that exist for this pattern. */
  readonly keys: readonly string[];
  /** In the list or stream and not yet taken by a consumer (of this group). */
  readonly unread: number;
  /** Taken and not acknowledged. */
  readonly pending: number;
  readonly deadLettered: number;
  /** Entries in the list or stream, handled ones included where the medium keeps them. */
  readonly length: number;
}

/** A message that was given up, as it lies in the dead letters (`<key>:dead`, a stream). */
export interface DeadLetter {
  /** Of the entry in the dead letters; what `replay` and `remove` take. */
  readonly id: string;
  /** As in {@link Message}. */
  readonly messageId: string;
  readonly body: Buffer;
  /** Message of the error that ended the last attempt. */
  readonly reason: string;
  readonly attempts: number;
  /** When it was given up, by the clock of Redis, in milliseconds since 1970. */
  readonly deadSinceMs: number;
}

export interface DeadLetters {
  /** Oldest first. @param page `after`: id of the last one seen; `count`: at most so many, default 100 */
  list(page?: { readonly after?: string; readonly count?: number }): Promise<DeadLetter[]>;
  /**
   * Sends them again, each moved in one atomic step: it is in the dead letters or in front of the consumers, never in
   * both and never in none. Id and body stay what they were. With a stream every group and reader sees it again.
   * @returns how many were moved; those that were not there any more are passed over
   */
  replay(ids: readonly string[]): Promise<number>;
  /** Removes them for good. @returns how many there were */
  remove(ids: readonly string[]): Promise<number>;
}
