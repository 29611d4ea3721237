import type { Socket } from 'node:net';
import { InvalidOptionError } from '../../errors.js';
import type { AdapterOptions, RedisClient, RedisCommand } from '../redis-client.js';
import { Adapter } from './adapter.js';
import { answersWithStatus, argumentsOf, type RawReply } from './replies.js';
import { connectOrDestroy, type OpenWire, type Wire } from './wire.js';

/** What ioredis and the libraries that grew out of it have in common, as far as it is used here. */
export interface FamilyClient {
  readonly status: string;
  readonly options?: {
    readonly enableAutoPipelining?: boolean | undefined;
    readonly keyPrefix?: string | undefined;
  };
  /** The socket of the moment; after a reconnect it is another one. */
  readonly stream: Socket;
  duplicate(overrides?: object): FamilyClient;
  connect(): Promise<void>;
  disconnect(): void;
  /** Writes to `stream` in place of the socket where one is given. */
  sendCommand(command: FamilyCommand, stream?: FamilyStream): unknown;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  ssubscribe(channel: string): Promise<unknown>;
  sunsubscribe(channel: string): Promise<unknown>;
  on(event: 'close' | 'end', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'messageBuffer' | 'smessageBuffer', listener: (channel: Buffer, body: Buffer) => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

/** The library's own `Command`; it has to be of the same copy of the library as the client. */
export interface FamilyCommand {
  /** Place in its pipeline: after a loss in the middle of one, the library repeats none of the rest of it. */
  pipelineIndex?: number;
  readonly promise: Promise<RawReply>;
}

export type FamilyCommandClass = new (
  name: string,
  args: (string | Buffer)[],
  options: { replyEncoding: null; keyPrefix?: string },
) => FamilyCommand;

/** What the library hands the bytes of a command to, the same that it uses for its own pipelines. */
export interface FamilyStream {
  readonly isPipeline: true;
  readonly destination: { readonly redis: { readonly stream: Socket } };
  write(data: string | Buffer): unknown;
}

/** A library of the family. */
export interface Family {
  /** Shown as `RedisClient.library`. */
  readonly name: string;
  readonly Command: FamilyCommandClass;
}

/** @throws {InvalidOptionError} a deadline that is not above 0. */
export function adaptFamily(family: Family, client: FamilyClient, options?: AdapterOptions): RedisClient {
  const breakers = new Set<(cause: Error) => void>();
  const onClose = (): void => {
    for (const giveUp of breakers) giveUp(new Error('connection closed'));
  };
  client.on('close', onClose);
  return new Adapter(
    {
      name: family.name,
      shared: wireOn(client, family),
      openWire: openerFrom(client, family),
      breakers,
      detach: () => client.off('close', onClose),
    },
    options,
  );
}

/**
 * Commands go straight to `sendCommand`, which is what the library's `pipeline()` and `call()` end in as well. On top
 * of it `pipeline()` makes three more promises and four closures for each command, which live until the last reply:
 * two thirds of its time is spent there and in collecting them.
 */
function wireOn(client: FamilyClient, { Command }: Family): Wire {
  const { keyPrefix, enableAutoPipelining = false } = client.options ?? {};
  const settings = { replyEncoding: null, ...(keyPrefix !== undefined && { keyPrefix }) };

  const send = (command: RedisCommand, stream?: FamilyStream, pipelineIndex?: number): Promise<RawReply> => {
    const [name, ...args] = argumentsOf(command);
    // Reply transformers (HGETALL to an object) go by the lower-case name, so names stay as they are; but iovalkey
    // looks up under the lower-case name what it allows on a subscribed connection, which is PING.
    const sent = new Command(name === 'PING' ? 'ping' : String(name), args, settings);
    if (pipelineIndex !== undefined) sent.pipelineIndex = pipelineIndex;
    client.sendCommand(sent, stream);
    return sent.promise;
  };

  return {
    get isReady() {
      return client.status === 'ready';
    },
    write(commands) {
      const [first] = commands;
      if (first !== undefined && commands.length === 1) {
        const collected = enableAutoPipelining ? sendCollected(client, first) : undefined;
        return { state: 'each', replies: [collected ?? send(first)], read };
      }
      const stream = new OneWrite(client);
      const replies = commands.map((command, index) => send(command, stream, index));
      stream.flush();
      return { state: 'each', replies, read };
    },
    async subscribe({ name, sharded }, onMessage) {
      client.on(sharded ? 'smessageBuffer' : 'messageBuffer', (_channel, body) => onMessage(body));
      await (sharded ? client.ssubscribe(name) : client.subscribe(name));
    },
    async unsubscribe({ name, sharded }) {
      await (sharded ? client.sunsubscribe(name) : client.unsubscribe(name));
    },
    destroy: () => client.disconnect(),
  };
}

/** Their replies are turned into objects when they are called by their own method. */
const TRANSFORMED = new Set(['hgetall']);

/**
 * Leaves a command to the library's automatic pipelining, which only its methods take part in. `callBuffer` is none of
 * them: it loses the name of the command there and sends its first argument in its place (ioredis 6.0.0, iovalkey
 * 0.4.0: autoPipelining.js puts the name back for `call` only).
 *
 * @returns `undefined` for a command without a method; it goes out by itself, ahead of those still being collected
 */
function sendCollected(client: FamilyClient, command: RedisCommand): Promise<RawReply> | undefined {
  const [name, ...args] = argumentsOf(command);
  const lower = String(name).toLowerCase();
  if (TRANSFORMED.has(lower)) return undefined;
  const method: unknown = Reflect.get(client, `${lower}Buffer`);
  return typeof method === 'function' ? method.call(client, ...args) : undefined;
}

/** Most characters in one string; all commands of a write in one could be longer than a string may be (ioredis#2088). */
const LONGEST_TEXT = 1024 * 1024;

/** Gathers what commands would write, and writes it at once. */
class OneWrite implements FamilyStream {
  readonly isPipeline = true;
  readonly destination: FamilyStream['destination'];
  #parts: Buffer[] = [];
  #text = '';
  #isFlushed = false;

  constructor(client: FamilyClient) {
    this.destination = { redis: client };
  }

  write(data: string | Buffer): void {
    // The library writes a command again after a reconnect, if its owner lets it.
    if (this.#isFlushed) this.destination.redis.stream.write(data);
    else if (typeof data === 'string') this.#append(data);
    else {
      this.#endText();
      this.#parts.push(data);
    }
  }

  flush(): void {
    this.#isFlushed = true;
    const { stream } = this.destination.redis;
    if (this.#parts.length === 0) {
      // Empty when the socket was closing and the library keeps the commands for the next one.
      if (this.#text !== '') stream.write(this.#text);
      return;
    }
    this.#endText();
    stream.write(Buffer.concat(this.#parts));
    this.#parts = [];
  }

  #append(text: string): void {
    this.#text += text;
    if (this.#text.length >= LONGEST_TEXT) this.#endText();
  }

  #endText(): void {
    if (this.#text !== '') this.#parts.push(Buffer.from(this.#text));
    this.#text = '';
  }
}

function openerFrom(client: FamilyClient, family: Family): OpenWire {
  return async (name, onLost) => {
    const own = client.duplicate({
      connectionName: name,
      lazyConnect: true,
      retryStrategy: null,
      reconnectOnError: null,
      autoResubscribe: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      enableOfflineQueue: false,
      enableAutoPipelining: false,
      enableReadyCheck: false,
      commandTimeout: undefined,
      blockingTimeout: undefined,
      socketTimeout: undefined,
      stringNumbers: true,
      replyMapping: 'legacy',
    });
    let lastError: Error | undefined;
    let gone = false;
    own.on('error', (error) => {
      lastError = error;
    });
    own.on('end', () => {
      if (!gone) onLost(lastError);
      gone = true;
    });
    try {
      await connectOrDestroy(own.connect(), () => own.disconnect());
    } catch (error) {
      gone = true;
      own.disconnect();
      throw lastError ?? error;
    }
    const wire = wireOn(own, family);
    return {
      ...wire,
      get isReady() {
        return own.status === 'ready';
      },
      destroy() {
        gone = true;
        own.disconnect();
      },
    };
  };
}

/** The family hands over a status as a Buffer, like any other string. */
function read(command: RedisCommand, reply: RawReply): RawReply {
  if (!Buffer.isBuffer(reply)) return checked(reply);
  return answersWithStatus(command) ? reply.toString('latin1') : reply;
}

/**
 * Checks what the library hands over. A number means that `stringNumbers` is off (it is on for connections of ours):
 * fine while the number is exact.
 */
function checked(reply: RawReply): RawReply {
  if (reply === null || reply === undefined || Buffer.isBuffer(reply)) return reply;
  // With `stringNumbers` text is a number: an integer, or a RESP3 double, which RESP2 sends as a bulk string.
  if (typeof reply === 'string') return /^[+-]?\d+$/.test(reply) ? reply : Buffer.from(reply);
  if (Array.isArray(reply)) return reply.map(checked);
  if (typeof reply === 'number' && Number.isSafeInteger(reply)) return String(reply);
  if (typeof reply === 'number') {
    throw new InvalidOptionError(
      'the client option stringNumbers',
      false,
      'true to receive integers beyond 2^53 exactly',
    );
  }
  if (typeof reply === 'bigint') return reply;
  return String(reply);
}
