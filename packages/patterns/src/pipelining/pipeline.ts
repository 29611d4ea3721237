import type {
  CommandOutcome,
  RedisClient,
  RedisCommand,
  RedisConnection,
  SendOptions,
} from '../client/redis-client.js';
import { InvalidOptionError } from '../errors.js';

/**
 * Sends many commands without waiting for each answer: the round trip is paid once per chunk and not once per
 * command. https://redis.io/docs/latest/develop/using-commands/pipelining/
 *
 *     const writes = pipeline(redis);
 *     const outcomes = await writes.send(users.map(({ id, name }) => ['SET', `user:${id}`, name]));
 *
 * Guarantees: outcomes come in the order of the commands, one each; an error of one never hides the others; Redis
 * receives the commands of one call in their order; at most `maxCommandsPerChunk` commands and about
 * `maxBytesPerChunk` bytes in one write and `maxChunksInFlight` chunks unanswered, whatever the caller hands over
 * (one pipeline of everything has hit Redis' query buffer and the longest string of JavaScript, ioredis#2088).
 *
 * Does not: it is no transaction. When the connection breaks, the chunks under way are `unknown`, and later ones go
 * out if it is back by then: send only commands that are independent of each other's success. Nothing is retried.
 *
 * @param redis a client, or a connection of its own so that large chunks hold nobody else up
 * @throws {InvalidOptionError}
 */
export function pipeline(redis: PipelineTarget, options: PipelineOptions = {}): Pipeline {
  const limits = {
    maxCommandsPerChunk: wholeNumber('maxCommandsPerChunk', options.maxCommandsPerChunk ?? 256),
    maxBytesPerChunk: wholeNumber('maxBytesPerChunk', options.maxBytesPerChunk ?? 1024 * 1024),
  };
  const slots = new Slots(wholeNumber('maxChunksInFlight', options.maxChunksInFlight ?? 2));
  const sendOptions: SendOptions = options.deadlineMs === undefined ? {} : { deadlineMs: options.deadlineMs };

  const sendChunk = async (chunk: readonly RedisCommand[]): Promise<CommandOutcome[]> => {
    await slots.take();
    try {
      return await redis.sendMany(chunk, sendOptions);
    } finally {
      slots.giveBack();
    }
  };

  return {
    async send(commands) {
      const sending: Promise<CommandOutcome[]>[] = [];
      const chunker = new Chunker(limits);
      for (const command of commands) {
        const full = chunker.add(command);
        if (full !== undefined) sending.push(sendChunk(full));
      }
      const rest = chunker.takeRest();
      if (rest.length > 0) sending.push(sendChunk(rest));
      const [first = [], ...others] = await Promise.all(sending);
      // Not `flat()`, which asks of each outcome whether it is a list.
      return first.concat(...others);
    },

    async *stream(commands) {
      const sending: Promise<CommandOutcome[]>[] = [];
      const chunker = new Chunker(limits);
      for await (const command of commands) {
        const full = chunker.add(command);
        if (full === undefined) continue;
        sending.push(sendChunk(full));
        // The source is not asked for more while as much is under way as may be.
        if (sending.length >= slots.count) yield* (await sending.shift()) ?? [];
      }
      const rest = chunker.takeRest();
      if (rest.length > 0) sending.push(sendChunk(rest));
      for (const chunk of sending) yield* await chunk;
    },
  };
}

/** What a pipeline writes to. */
export type PipelineTarget = Pick<RedisClient, 'sendMany'> | Pick<RedisConnection, 'sendMany'>;

export interface PipelineOptions {
  /** Most commands in one write. Default 256; beyond some hundred the gain is small and the memory is not. */
  readonly maxCommandsPerChunk?: number;
  /**
   * Most bytes of arguments in one write. Default 1 MiB. A command that is larger makes a chunk of its own.
   * Redis answers a chunk in one piece: keep it small enough that others are not held up for long.
   */
  readonly maxBytesPerChunk?: number;
  /** Chunks written and not answered yet, all calls together. Default 2: one travels while the other is worked on. */
  readonly maxChunksInFlight?: number;
  /** How long a chunk may take, in milliseconds. Default: the adapter's. */
  readonly deadlineMs?: number;
}

export interface Pipeline {
  /**
   * Sends all of them; resolves with one outcome each, in order. Never rejects for what Redis or the network does. All outcomes are
   * held in memory: for millions of commands use {@link Pipeline.stream}.
   */
  send(commands: Iterable<RedisCommand>): Promise<CommandOutcome[]>;
  /**
   * Takes commands from the source as fast as Redis answers, and yields one outcome each, in order. Memory stays
   * bounded by the limits, whatever the source holds. A caller that stops early leaves chunks on their way.
   * @throws what the source throws; outcomes of commands under way are then not told
   */
  stream(
    commands: Iterable<RedisCommand> | AsyncIterable<RedisCommand>,
  ): AsyncGenerator<CommandOutcome, void>;
}

interface Limits {
  readonly maxCommandsPerChunk: number;
  readonly maxBytesPerChunk: number;
}

/**
 * Cuts a sequence of commands into chunks.
 *
 * Most chunks are full by count long before they are by bytes, and counting the bytes of text costs more than all the
 * rest of it. So commands are weighed by what they have at most, and counted only when that could be too much.
 */
class Chunker {
  readonly #limits: Limits;
  #chunk: RedisCommand[] = [];
  /** Bytes of the first `#counted` commands of the chunk, and what the others have at most. */
  #bytes = 0;
  #counted = 0;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** @returns a chunk that has become full, if one has */
  add(command: RedisCommand): RedisCommand[] | undefined {
    const mostBytes = mostBytesOf(command);
    const full = this.#hasRoomFor(command, mostBytes) ? undefined : this.takeRest();
    this.#chunk.push(command);
    this.#bytes += mostBytes;
    return full;
  }

  takeRest(): RedisCommand[] {
    const rest = this.#chunk;
    this.#chunk = [];
    this.#bytes = 0;
    this.#counted = 0;
    return rest;
  }

  #hasRoomFor(command: RedisCommand, mostBytes: number): boolean {
    const { maxCommandsPerChunk, maxBytesPerChunk } = this.#limits;
    if (this.#chunk.length >= maxCommandsPerChunk) return false;
    if (this.#chunk.length === 0 || this.#bytes + mostBytes <= maxBytesPerChunk) return true;
    for (const uncounted of this.#chunk.slice(this.#counted)) {
      this.#bytes += bytesOf(uncounted) - mostBytesOf(uncounted);
    }
    this.#counted = this.#chunk.length;
    return this.#bytes + bytesOf(command) <= maxBytesPerChunk;
  }
}

/** UTF-8 takes at most three bytes for each unit of UTF-16 that JavaScript counts in a string's length. */
const MOST_BYTES_PER_UNIT = 3;

function mostBytesOf(command: RedisCommand): number {
  let bytes = 0;
  for (const argument of command) {
    bytes += typeof argument === 'string' ? argument.length * MOST_BYTES_PER_UNIT : argument.byteLength;
  }
  return bytes;
}

function bytesOf(command: RedisCommand): number {
  let bytes = 0;
  for (const argument of command) {
    bytes += typeof argument === 'string' ? Buffer.byteLength(argument) : argument.byteLength;
  }
  return bytes;
}

/** A fixed number of slots, handed out in the order in which they were asked for. */
class Slots {
  readonly count: number;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(count: number) {
    this.count = count;
    this.#free = count;
  }

  async take(): Promise<void> {
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  giveBack(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}

function wholeNumber(option: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidOptionError(option, value, 'a whole number above 0');
  return value;
}
