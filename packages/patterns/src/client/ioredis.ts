import { InvalidOptionError } from '../errors.js';
import { Adapter } from './internal/adapter.js';
import { answersWithStatus, argumentsOf, type RawReply } from './internal/replies.js';
import { connectOrDestroy, type OpenWire, type Wire } from './internal/wire.js';
import type { AdapterOptions, RedisClient, RedisCommand } from './redis-client.js';

/**
 * Adapter for ioredis 5.4 to 6, RESP2 and RESP3.
 *
 *     const redis = ioredis(new Redis(url));
 *
 * Connections of our own are duplicates with everything off that repeats or postpones a command silently:
 * resending after a reconnect, retries per request, the offline queue, client-side timeouts of blocking commands
 * (those answer `null` while Redis hands out a message).
 *
 * On the shared client, ioredis by default sends unanswered commands again after a reconnect. We report those as
 * `unknown` as soon as the socket closes; they may nevertheless run twice. Create the client with
 * `autoResendUnfulfilledCommands: false` to rule that out, and with `stringNumbers: true` if integers beyond
 * 2^53 are expected: without it ioredis rounds them, and we refuse to hand over a rounded one.
 *
 * @throws {InvalidOptionError} a deadline that is not above 0.
 */
export function ioredis(client: IoredisClient, options?: AdapterOptions): RedisClient {
  return adaptIoredis('ioredis', client, options);
}

/** The same for libraries that grew out of ioredis and kept its ways. */
export function adaptIoredis(name: string, client: IoredisClient, options?: AdapterOptions): RedisClient {
  const breakers = new Set<(cause: Error) => void>();
  const onClose = (): void => {
    for (const giveUp of breakers) giveUp(new Error('connection closed'));
  };
  client.on('close', onClose);
  return new Adapter(
    {
      name,
      shared: wireOn(client),
      openWire: openerFrom(client),
      breakers,
      detach: () => client.off('close', onClose),
    },
    options,
  );
}

type Callback = (error: Error | null | undefined, reply?: unknown) => void;

/** The part of an ioredis client that is used here. */
export interface IoredisClient {
  readonly status: string;
  readonly options?: { readonly enableAutoPipelining?: boolean | undefined };
  duplicate(overrides?: object): IoredisClient;
  connect(): Promise<void>;
  disconnect(): void;
  callBuffer(name: string, args: (string | Buffer)[], callback: Callback): unknown;
  pipeline(): IoredisPipeline;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  ssubscribe(channel: string): Promise<unknown>;
  sunsubscribe(channel: string): Promise<unknown>;
  on(event: 'close' | 'end', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  on(event: 'messageBuffer' | 'smessageBuffer', listener: (channel: Buffer, body: Buffer) => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}

export interface IoredisPipeline {
  callBuffer(name: string, args: (string | Buffer)[], callback: Callback): unknown;
  exec(): Promise<unknown>;
}

function wireOn(client: IoredisClient): Wire {
  return {
    get isReady() {
      return client.status === 'ready';
    },
    write(commands) {
      const [first] = commands;
      if (first !== undefined && commands.length === 1) return [call(client, first)];
      const pipeline = client.pipeline();
      const replies = commands.map((command) => call(pipeline, command));
      // Each command has its own callback; what exec resolves with is the same once more.
      pipeline.exec().catch(() => undefined);
      return replies;
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

function call(target: IoredisPipeline | IoredisClient, command: RedisCommand): Promise<RawReply> {
  const [name, ...args] = argumentsOf(command);
  return new Promise((resolve, reject) => {
    const done: Callback = (error, reply) => {
      if (error) return reject(error);
      try {
        resolve(rawFrom(command, reply));
      } catch (unusable) {
        reject(unusable);
      }
    };
    // Reply transformers (HGETALL to an object) go by the lower-case name, so names stay as they are; but iovalkey
    // looks up under the lower-case name what it allows on a subscribed connection, which is PING.
    const returned = send(target, name === 'PING' ? 'ping' : String(name), args, done);
    // Outside a pipeline this is a promise as well; the callback has already said all it could say.
    if (returned instanceof Promise) returned.catch(() => undefined);
  });
}

/** Their replies are turned into objects when they are called by their own method. */
const TRANSFORMED = new Set(['hgetall']);

/**
 * Where automatic pipelining is on, `callBuffer` loses the name of the command and sends its first argument in its
 * place (ioredis 6.0.0, iovalkey 0.4.0: autoPipelining.js puts the name back for `call` only). The method named after
 * the command keeps it; a command without one goes out by itself, ahead
 * of those that are still being collected.
 */
function send(
  target: IoredisPipeline | IoredisClient,
  name: string,
  args: (string | Buffer)[],
  done: Callback,
): unknown {
  if (!('options' in target && target.options?.enableAutoPipelining))
    return target.callBuffer(name, args, done);
  const lower = name.toLowerCase();
  const method: unknown = TRANSFORMED.has(lower) ? undefined : Reflect.get(target, `${lower}Buffer`);
  if (typeof method === 'function') return method.call(target, ...args, done);
  const alone = target.pipeline();
  alone.callBuffer(name, args, done);
  return alone.exec();
}

function openerFrom(client: IoredisClient): OpenWire {
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
    const wire = wireOn(own);
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

function rawFrom(command: RedisCommand, reply: unknown): RawReply {
  // ioredis hands over a status as a Buffer, like any other string.
  return answersWithStatus(command) && Buffer.isBuffer(reply) ? reply.toString('latin1') : checked(reply);
}

/**
 * Checks what ioredis hands over. A number means that `stringNumbers` is off (it is on for connections of ours):
 * fine while the number is exact.
 */
function checked(reply: unknown): RawReply {
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
