import {
  Batch,
  ClosingError,
  ConnectionError,
  Decoder,
  GlideClient,
  type GlideClientConfiguration,
  type GlideReturnType,
  ProtocolVersion,
  TimeoutError,
} from '@valkey/valkey-glide';
import { InvalidOptionError } from '../errors.js';
import { Adapter } from './internal/adapter.js';
import { errorFromGlide, rawFromGlide } from './internal/glide-replies.js';
import { argumentsOf, type RawReply } from './internal/replies.js';
import type { Channel, Due, OpenWire, Wire } from './internal/wire.js';
import type { AdapterOptions, RedisClient, RedisCommand } from './redis-client.js';

/**
 * Adapter for valkey-glide 2 (standalone), RESP2 and RESP3.
 *
 *     const client = await GlideClient.createClient(configuration);
 *     const redis = valkeyGlide(client, configuration);
 *
 * The configuration is asked for because glide has no `duplicate`: connections of our own are made with it.
 * `sendMany` is a non-atomic batch, one write and one answer in place for each command.
 *
 * Where glide differs from the others:
 * - Integers beyond 2^53 reach JavaScript rounded. The outcome is `unknown` then: never a wrong number.
 * - It reconnects by itself and tells nobody. On connections of our own the loss is noticed by the command it cut off
 *   or, where nothing was under way, within three seconds by the number Redis gives to each connection (CLIENT ID).
 * - While Redis is away, commands on the shared client wait up to the configured `requestTimeout` instead of being
 *   refused, and are `unknown` then; raise it above 250 ms for large batches.
 * - A batch has one answer for all: when it does not come, all its commands are `unknown`, also those carried out.
 * - A blocking command is given up half a second after its block time by glide itself.
 * - Subscriptions need RESP3, and channels that are not sharded. What was published may be handed over after the answer
 *   to a later command, so a draining pub/sub consumer can end too early.
 * The conformance suite of the messaging patterns is therefore not run over glide: commands and pipelines are what it is
 * for here.
 *
 * @throws {InvalidOptionError} a deadline that is not above 0.
 */
export function valkeyGlide(
  client: GlideClient,
  configuration: GlideClientConfiguration,
  options?: AdapterOptions,
): RedisClient {
  return new Adapter(
    { name: 'valkey-glide', shared: sharedWire(client), openWire: openerFrom(client, configuration) },
    options,
  );
}

const BYTES = { decoder: Decoder.Bytes };
/** Every call has a deadline of ours; glide's own default of 250 ms would cut off long batches. About 24 days. */
const NEVER_MS = 2 ** 31 - 1;
/** How long a subscription may take to be confirmed, in milliseconds. */
const SUBSCRIBE_WITHIN_MS = 5000;
const IDENTIFY_EVERY_MS = 1000;
/** Nothing else is under way when it is asked, so an answer takes a round trip; glide would wait for ever. */
const IDENTIFY_WITHIN_MS = 2000;

/** Writes in one go; errors are worded as the other libraries would word them. */
function write(client: GlideClient, commands: readonly RedisCommand[]): Due {
  const [first] = commands;
  if (first !== undefined && commands.length === 1) {
    return { state: 'each', replies: [sendOne(client, first)] };
  }
  return { state: 'together', replies: sendBatch(client, commands) };
}

async function sendOne(client: GlideClient, command: RedisCommand): Promise<RawReply> {
  try {
    return rawFromGlide(command, await client.customCommand(glideArgumentsOf(command), BYTES));
  } catch (error) {
    throw errorFromGlide(error);
  }
}

async function sendBatch(
  client: GlideClient,
  commands: readonly RedisCommand[],
): Promise<readonly (RawReply | Error)[]> {
  const batch = new Batch(false);
  for (const command of commands) batch.customCommand(glideArgumentsOf(command));
  try {
    const replies = (await client.exec(batch, false, { ...BYTES, timeout: NEVER_MS })) ?? [];
    return commands.map((command, index) => answerFrom(command, replies[index] ?? null));
  } catch (error) {
    throw errorFromGlide(error);
  }
}

/** Names of commands as bytes. A command that is built by somebody's loop must not make it grow without end. */
const nameBytes = new Map<string, Buffer>();
const MOST_NAMES = 500;

/**
 * Glide turns every text into bytes anew. The names are few and always the same, so they are kept as bytes: a pipeline of
 * SETs takes 8 % less time by it.
 */
function glideArgumentsOf(command: RedisCommand): (string | Buffer)[] {
  const words = [...argumentsOf(command)];
  const [name] = words;
  if (typeof name === 'string') words[0] = bytesOf(name);
  return words;
}

function bytesOf(name: string): Buffer {
  const known = nameBytes.get(name);
  if (known !== undefined) return known;
  const bytes = Buffer.from(name);
  if (nameBytes.size < MOST_NAMES) nameBytes.set(name, bytes);
  return bytes;
}

/** An error of one, or a reply that cannot be used, does not hide the others. */
function answerFrom(command: RedisCommand, reply: GlideReturnType): RawReply | Error {
  if (reply instanceof Error) return errorFromGlide(reply);
  try {
    return rawFromGlide(command, reply);
  } catch (unusable) {
    return errorFromGlide(unusable);
  }
}

function sharedWire(client: GlideClient): Wire {
  const notHere = (): Promise<never> => Promise.reject(new Error('the shared connection never subscribes'));
  return {
    // Glide does not tell; a closed client refuses the command.
    isReady: true,
    write: (commands) => write(client, commands),
    subscribe: notHere,
    unsubscribe: notHere,
    // It is its owner's to close.
    destroy: () => undefined,
  };
}

function openerFrom(shared: GlideClient, configuration: GlideClientConfiguration): OpenWire {
  return async (name, onLost) => {
    let onMessage: ((body: Buffer) => void) | undefined;
    const canSubscribe = configuration.protocol !== ProtocolVersion.RESP2;
    const client = await GlideClient.createClient({
      ...configuration,
      clientName: name,
      requestTimeout: NEVER_MS,
      lazyConnect: false,
      ...(canSubscribe && {
        pubsubSubscriptions: {
          channelsAndPatterns: {},
          callback: ({ message }) => {
            if (Buffer.isBuffer(message)) onMessage?.(message);
          },
        },
        defaultDecoder: Decoder.Bytes,
      }),
    });
    // A user who may not ask is not told of idle losses.
    const connectionId = await sendOne(client, ['CLIENT', 'ID']).catch(() => undefined);
    return new OwnWire({
      client,
      shared,
      connectionId,
      canSubscribe,
      onLost,
      listen: (listener) => {
        onMessage = listener;
      },
    });
  };
}

interface OwnWireParts {
  readonly client: GlideClient;
  readonly shared: GlideClient;
  /** `undefined` where Redis did not tell. */
  readonly connectionId: RawReply;
  readonly canSubscribe: boolean;
  readonly onLost: (error: Error | undefined) => void;
  readonly listen: (listener: ((body: Buffer) => void) | undefined) => void;
}

/** Makes a wire that ends for good out of a client that never does. */
class OwnWire implements Wire {
  readonly #parts: OwnWireParts;
  readonly #idleCheck: NodeJS.Timeout | undefined;
  #channel: string | undefined;
  #underWay = 0;
  #isGone = false;

  constructor(parts: OwnWireParts) {
    this.#parts = parts;
    if (parts.connectionId === undefined) return;
    this.#idleCheck = setInterval(() => this.#identify(), IDENTIFY_EVERY_MS).unref();
  }

  get isReady(): boolean {
    return !this.#isGone;
  }

  write(commands: readonly RedisCommand[]): Due {
    this.#underWay++;
    const due = write(this.#parts.client, commands);
    const all: Promise<unknown> = due.state === 'each' ? Promise.all(due.replies) : due.replies;
    all.then(
      () => this.#underWay--,
      (error: unknown) => {
        this.#underWay--;
        if (isLoss(error)) this.#lost(error);
      },
    );
    return due;
  }

  async subscribe({ name, sharded }: Channel, onMessage: (body: Buffer) => void): Promise<void> {
    if (sharded) {
      const instead = 'left out with valkey-glide: its standalone client knows no SSUBSCRIBE';
      throw new InvalidOptionError('sharded', sharded, instead);
    }
    if (!this.#parts.canSubscribe) {
      throw new InvalidOptionError('protocol', 'RESP2', 'RESP3 to subscribe with valkey-glide');
    }
    this.#parts.listen(onMessage);
    this.#channel = name;
    await this.#parts.client.subscribe([name], SUBSCRIBE_WITHIN_MS);
  }

  async unsubscribe({ name }: Pick<Channel, 'name'>): Promise<void> {
    this.#channel = undefined;
    await this.#parts.client.unsubscribe([name], SUBSCRIBE_WITHIN_MS);
  }

  /**
   * Glide keeps the socket for up to three seconds after `close`, and longer while a command waits on it: long enough
   * to take a message for nobody. So Redis is asked, on the shared connection, to end that wait.
   */
  destroy(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    clearInterval(this.#idleCheck);
    this.#parts.listen(undefined);
    const { shared, connectionId } = this.#parts;
    if (this.#underWay > 0 && typeof connectionId === 'string') {
      sendOne(shared, ['CLIENT', 'UNBLOCK', connectionId]).catch(() => undefined);
    }
    if (this.#channel === undefined) this.#parts.client.close();
    else {
      this.unsubscribe({ name: this.#channel })
        .catch(() => undefined)
        .finally(() => this.#parts.client.close());
    }
  }

  /** A connection with another number is another connection. */
  #identify(): void {
    if (this.#underWay > 0 || this.#isGone) return;
    const silent = setTimeout(() => this.#lost(new Error('no answer to CLIENT ID')), IDENTIFY_WITHIN_MS);
    silent.unref();
    this.#underWay++;
    sendOne(this.#parts.client, ['CLIENT', 'ID'])
      .then(
        (id) => {
          if (id !== this.#parts.connectionId)
            this.#lost(new Error('valkey-glide has replaced the connection'));
        },
        (error: unknown) => {
          if (isLoss(error)) this.#lost(error);
        },
      )
      .finally(() => {
        this.#underWay--;
        clearTimeout(silent);
      });
  }

  #lost(error: Error): void {
    if (this.#isGone) return;
    this.destroy();
    this.#parts.onLost(error);
  }
}

/** After a timeout of glide's own the answer may still come, and be thrown away: that connection is done with. */
function isLoss(error: unknown): error is Error {
  return error instanceof ConnectionError || error instanceof ClosingError || error instanceof TimeoutError;
}
