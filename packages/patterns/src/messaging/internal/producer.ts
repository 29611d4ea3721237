import type {
  CommandOutcome,
  RedisArgument,
  RedisClient,
  RedisCommand,
  RedisReply,
} from '../../client/redis-client.js';
import { PatternError, RedisReplyError, SendError, type SendFailure } from '../../errors.js';
import type {
  MessageBody,
  MessagingPattern,
  Producer,
  ProducerCounters,
  ProducerOptions,
  SendReceipt,
} from '../pattern.js';
import { encodeEnvelope, headerPrefix } from './envelope.js';
import { foreignKeyError, type RedisType } from './foreign-key.js';
import { HandledTrimmer } from './handled-trimmer.js';
import { InFlightWindow } from './in-flight-window.js';
import { check, type ProducerSettings, producerSettings } from './options.js';
import { assertServerKnows } from './required-commands.js';

/** Where a pattern's producer writes. Everything else about sending is the same for all patterns. */
export interface Medium {
  /** What the key must hold; a channel is not a key. */
  readonly type: RedisType | 'channel';
  readonly defaultKey: string;
  /** How many bodies one command carries at most: 1 for XADD, many for LPUSH. */
  readonly bodiesPerCommand: number;
  /**
   * The commands for these bodies, in order, each but the last with `bodiesPerCommand` of them. Further ones carry no
   * body: what becomes of them is no failure of a send.
   */
  commands(key: string, bodies: readonly RedisArgument[]): RedisCommand[];
  /** How many messages wait, for `maxLength`. */
  length(client: RedisClient, key: string): Promise<number>;
  /** How many got the message, from the reply; where the medium knows. */
  receivers?(reply: RedisReply): number;
  /** See {@link MessagingPattern.requires}. */
  readonly requires?: readonly string[];
}

/** A write is cut here, so that no reply waits for a pipeline of unbounded size (SEMANTICS, rule 12). */
const CHUNK_MESSAGES = 1000;
const CHUNK_BYTES = 1024 * 1024;

/** @throws {InvalidOptionError} */
export function createProducer(client: RedisClient, medium: Medium, options?: ProducerOptions): Producer {
  const settings = producerSettings(options, medium.defaultKey);
  const { keepHandled } = settings;
  const isPossible = keepHandled === undefined || medium.type === 'stream';
  check('keepHandled', keepHandled, isPossible, 'left out: only a stream keeps what was handled');
  return new PipeliningProducer(client, medium, settings);
}

class PipeliningProducer implements Producer {
  readonly #client: RedisClient;
  readonly #medium: Medium;
  readonly #settings: ProducerSettings;
  readonly #prefix: string;
  readonly #window: InFlightWindow;
  readonly #trimmer: HandledTrimmer | undefined;
  readonly #sending = new Set<Promise<unknown>>();
  /** The writing of the send before; a send writes its chunks without another's in between. */
  #turn: Promise<void> = Promise.resolve();
  #serverCheck: Promise<void> | undefined;
  #sequence = 0;
  #closed = false;
  #attempted = 0;
  #acknowledged = 0;
  #failed = 0;
  #unknown = 0;

  constructor(client: RedisClient, medium: Medium, settings: ProducerSettings) {
    this.#client = client;
    this.#medium = medium;
    this.#settings = settings;
    this.#prefix = headerPrefix(settings.producerId);
    this.#window = new InFlightWindow(settings.maxInFlight);
    const { key, keepHandled } = settings;
    this.#trimmer = keepHandled === undefined ? undefined : new HandledTrimmer(client, key, keepHandled);
  }

  get id(): string {
    return this.#settings.producerId;
  }

  send(bodies: readonly MessageBody[]): Promise<SendReceipt> {
    return this.#closeWaitsFor(this.#send(bodies));
  }

  counters(): ProducerCounters {
    return {
      attempted: this.#attempted,
      acknowledged: this.#acknowledged,
      failed: this.#failed,
      unknown: this.#unknown,
      inFlight: this.#window.used,
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#sending);
  }

  #closeWaitsFor<Result>(work: Promise<Result>): Promise<Result> {
    this.#sending.add(work);
    const forget = (): void => {
      this.#sending.delete(work);
    };
    work.then(forget, forget);
    return work;
  }

  async #send(bodies: readonly MessageBody[]): Promise<SendReceipt> {
    if (this.#closed) throw new PatternError('CLOSED', `producer ${this.id} is closed; nothing was sent`);
    for (const body of bodies) this.#checkSize(body);
    if (this.#medium.requires !== undefined) await this.#checkServer(this.#medium.requires);
    if (this.#settings.maxLength !== undefined) await this.#checkLength(this.#settings.maxLength);

    const firstSequence = this.#sequence;
    this.#sequence += bodies.length;
    this.#attempted += bodies.length;
    const writes: Promise<Written>[] = [];
    const before = this.#turn;
    this.#turn = this.#writeInTurn(before, bodies, firstSequence, writes);
    await this.#turn;

    const written = await Promise.all(writes);
    const failures = written.flatMap((write) => write.failures);
    if (failures.length > 0) throw await this.#errorOf(bodies.length - failures.length, failures);
    if (this.#medium.receivers === undefined) return { firstSequence, count: bodies.length };
    const receivers = written.reduce((sum, write) => sum + write.receivers, 0);
    return { firstSequence, count: bodies.length, receivers };
  }

  /** Encodes and writes chunk after chunk as the window allows, without waiting for replies. */
  async #writeInTurn(
    before: Promise<void>,
    bodies: readonly MessageBody[],
    firstSequence: number,
    writes: Promise<Written>[],
  ): Promise<void> {
    await before;
    const chunkMessages = Math.min(CHUNK_MESSAGES, this.#settings.maxInFlight);
    let start = 0;
    while (start < bodies.length) {
      const chunk: RedisArgument[] = [];
      for (let bytes = 0; start + chunk.length < bodies.length && chunk.length < chunkMessages; ) {
        const index = start + chunk.length;
        const body = bodies[index] ?? '';
        bytes += body.length;
        if (chunk.length > 0 && bytes > CHUNK_BYTES) break;
        chunk.push(encodeEnvelope(this.#prefix, firstSequence + index, body));
      }
      const room = this.#window.enter(chunk.length);
      if (room !== undefined) await room;
      writes.push(this.#write(chunk, start));
      start += chunk.length;
    }
  }

  async #write(chunk: readonly RedisArgument[], start: number): Promise<Written> {
    const { bodiesPerCommand, receivers } = this.#medium;
    const commands = this.#medium.commands(this.#settings.key, chunk);
    const outcomes = await this.#client.sendMany(commands, { deadlineMs: this.#settings.deadlineMs });
    this.#window.leave(chunk.length);
    this.#trimmer?.saw(outcomes);
    if (this.#trimmer?.isDue) void this.#closeWaitsFor(this.#trimmer.trim());

    const failures: SendFailure[] = [];
    let received = 0;
    outcomes.forEach((outcome, place) => {
      const first = place * bodiesPerCommand;
      const count = Math.min(bodiesPerCommand, chunk.length - first);
      this.#count(outcome, count);
      if (outcome.state === 'ok') {
        if (receivers !== undefined) received += receivers(outcome.reply);
        return;
      }
      const state = outcome.state === 'error' ? 'failed' : 'unknown';
      for (let index = first; index < first + count; index++) {
        failures.push({ index: start + index, state, error: outcome.error });
      }
    });
    return { failures, receivers: received };
  }

  #count(outcome: CommandOutcome, count: number): void {
    if (outcome.state === 'ok') this.#acknowledged += count;
    else if (outcome.state === 'error') this.#failed += count;
    else this.#unknown += count;
  }

  /** A key of the wrong type is no accident of single messages, so it is named instead of the messages. */
  async #errorOf(acknowledged: number, failures: readonly SendFailure[]): Promise<Error> {
    const { type } = this.#medium;
    const cause = failures[0]?.error;
    const isForeign = cause instanceof RedisReplyError && cause.kind === 'WRONGTYPE';
    if (isForeign && acknowledged === 0 && type !== 'channel') {
      return foreignKeyError(this.#client, this.#settings.key, type, cause);
    }
    return new SendError(acknowledged, failures);
  }

  #checkSize(body: MessageBody): void {
    const limit = this.#settings.maxBodyBytes;
    check('bodies', body, typeof body === 'string' || body instanceof Uint8Array, 'strings or Uint8Arrays');
    // A string of n UTF-16 units takes n to 3n bytes; counting is needed only in between.
    if (typeof body === 'string' ? body.length * 3 <= limit : body.length <= limit) return;
    const bytes = Buffer.byteLength(body);
    if (bytes <= limit) return;
    throw new PatternError(
      'BODY_TOO_LARGE',
      `a body has ${bytes} bytes and maxBodyBytes is ${limit}; nothing was sent`,
    );
  }

  /** Concurrent first sends wait for one answer, so they go on in their order. */
  #checkServer(requires: readonly string[]): Promise<void> {
    this.#serverCheck ??= assertServerKnows(this.#client, requires, this.#settings.deadlineMs).finally(() => {
      this.#serverCheck = undefined;
    });
    return this.#serverCheck;
  }

  async #checkLength(maxLength: number): Promise<void> {
    const { key } = this.#settings;
    const length = await this.#medium.length(this.#client, key);
    if (length <= maxLength) return;
    throw new PatternError(
      'LENGTH_CAP',
      `${length} messages wait in ${key} and maxLength is ${maxLength}; nothing was sent`,
    );
  }
}

interface Written {
  readonly failures: readonly SendFailure[];
  readonly receivers: number;
}
