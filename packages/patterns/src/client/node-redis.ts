import { Adapter } from './internal/adapter.js';
import { argumentsOf, type RawReply } from './internal/replies.js';
import { connectOrDestroy, type OpenWire, type Wire } from './internal/wire.js';
import type { AdapterOptions, RedisClient } from './redis-client.js';

/**
 * Adapter for node-redis (`redis` 5 and 6), RESP2 and RESP3.
 *
 *     const client = await createClient({ url }).connect();
 *     const redis = nodeRedis(client);
 *
 * `sendMany` calls `sendCommand` for each command in one turn of the event loop: node-redis collects those and
 * writes them together. Its own pipeline (`execAsPipeline`) rejects with the first error and loses the other
 * replies, so it cannot tell what became of each command.
 *
 * Connections of our own are duplicates without node-redis' reconnection and without its offline queue. On the
 * shared client node-redis never repeats a command it has written; one that it had not written yet when the
 * socket broke may still go out later, and is reported `unknown` when the deadline passes first.
 *
 * @throws {InvalidOptionError} a deadline that is not above 0.
 */
export function nodeRedis(client: NodeRedisClient, options?: AdapterOptions): RedisClient {
  return new Adapter({ name: 'node-redis', shared: wireOn(client), openWire: openerFrom(client) }, options);
}

/** The part of a node-redis client that is used here; any `createClient()` fits, whatever its modules. */
export interface NodeRedisClient {
  readonly isReady: boolean;
  readonly options: { readonly socket?: object } | undefined;
  sendCommand<T>(args: readonly (string | Buffer)[]): Promise<T>;
  withCommandOptions(options: object): Pick<NodeRedisClient, 'sendCommand'>;
  duplicate(overrides?: object): NodeRedisClient;
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: 'error', listener: (error: Error) => void): unknown;
  subscribe(channel: string, listener: (body: Buffer) => void, asBuffer: true): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  sSubscribe(channel: string, listener: (body: Buffer) => void, asBuffer: true): Promise<void>;
  sUnsubscribe(channel: string): Promise<void>;
}

/**
 * How node-redis is to decode replies; keys are the type bytes of the protocol (`RESP_TYPES` of node-redis,
 * https://github.com/redis/redis-specifications/blob/master/protocol/RESP3.md). See `RawReply`.
 */
const RAW_REPLIES = {
  36: Buffer, // bulk string
  61: Buffer, // verbatim string
  58: String, // integer: the text keeps digits beyond 2^53
  37: Array, // map
  126: Array, // set
};

/**
 * Set once per client: passed with each command they would more than double its cost, because node-redis merges
 * them by object spread. The timeout takes the place of node-redis' default, which starts a timer per command and
 * covers only the wait for the socket; `exchange` has one per call and covers the answer.
 */
const COMMAND_OPTIONS = { typeMapping: RAW_REPLIES, timeout: undefined };

function wireOn(client: NodeRedisClient): Wire {
  const sender = client.withCommandOptions(COMMAND_OPTIONS);
  return {
    get isReady() {
      return client.isReady;
    },
    write: (commands) => ({
      state: 'each',
      replies: commands.map((command) => sender.sendCommand<RawReply>(argumentsOf(command))),
    }),
    subscribe: ({ name, sharded }, onMessage) =>
      sharded ? client.sSubscribe(name, onMessage, true) : client.subscribe(name, onMessage, true),
    unsubscribe: ({ name, sharded }) => (sharded ? client.sUnsubscribe(name) : client.unsubscribe(name)),
    destroy: () => client.destroy(),
  };
}

function openerFrom(client: NodeRedisClient): OpenWire {
  return async (name, onLost) => {
    const own = client.duplicate({
      name,
      disableOfflineQueue: true,
      // Moves a connection to another socket by itself; ours are replaced as a whole.
      maintNotifications: 'disabled',
      socket: { ...client.options?.socket, reconnectStrategy: false },
    });
    let gone = false;
    own.on('error', (error) => {
      if (gone) return;
      gone = true;
      own.destroy();
      onLost(error);
    });
    await connectOrDestroy(own.connect(), () => own.destroy());
    const wire = wireOn(own);
    return {
      ...wire,
      get isReady() {
        return own.isReady;
      },
      destroy() {
        gone = true;
        own.destroy();
      },
    };
  };
}
