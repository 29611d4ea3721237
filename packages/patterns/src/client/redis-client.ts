/**
 * The smallest Redis client the patterns need. Bring your own library and wrap it with its adapter
 * (`nodeRedis(client)`, `ioredis(client)`).
 *
 * Shapes are the same whatever the library and whichever protocol version (RESP2 or RESP3) it speaks:
 * a pattern never learns which client carries it.
 */

/** One argument of a command. A string is sent as its UTF-8 bytes, a `Uint8Array` as it is. */
export type RedisArgument = string | Uint8Array;

/** A command with its name first: `['XADD', 'key', '*', 'field', body]`. Numbers are passed as text. */
export type RedisCommand = readonly RedisArgument[];

/**
 * A reply, the same for RESP2 and RESP3:
 * bulk strings are `Buffer`s (bytes are never decoded), simple strings (`OK`, stream ids are bulk) are `string`s,
 * integers are `number`s and beyond 2^53 - 1 `bigint`s, nil is `null`, arrays are arrays.
 * RESP3's own types come in RESP2's shape: maps as flat arrays (`[[key, entries], ...]` for XREAD and XREADGROUP),
 * doubles as bulk strings, booleans as 1 and 0.
 */
export type RedisReply = Buffer | string | number | bigint | boolean | null | RedisReply[];

/**
 * What became of one command. `error`: Redis refused it, so it had no effect. `unknown`: it was written, or may
 * have been, and the answer never came; it may have had its effect. Unknown is never retried silently.
 */
export type CommandOutcome =
  | { readonly state: 'ok'; readonly reply: RedisReply }
  | { readonly state: 'error'; readonly error: Error }
  | { readonly state: 'unknown'; readonly error: Error };

export interface SendOptions {
  /**
   * How long to wait for the answer, in milliseconds. Default: the adapter's `commandDeadlineMs` (5000).
   * When it passes the outcome is `unknown`; a late answer is ignored. A blocking command is given its block
   * time plus a margin by the pattern.
   */
  readonly deadlineMs?: number;
}

export interface ConnectionOptions {
  /** Shown by CLIENT LIST (CLIENT SETNAME), without spaces. */
  readonly name: string;
  /**
   * Called each time the connection is usable again after it was lost, before anything else is sent on it.
   * Patterns re-read their own pending work first.
   */
  readonly onReconnect?: () => void;
  /** Called each time the connection is lost. */
  readonly onDisconnect?: (error: Error | undefined) => void;
}

/**
 * A connection of its own, for commands that block. It reconnects by itself until closed. While it is down,
 * `send` rejects at once (nothing is queued behind a dead socket).
 */
export interface RedisConnection {
  /**
   * Sends one command.
   * @throws {RedisReplyError} Redis answered with an error.
   * @throws {UnknownOutcomeError} the connection was lost or the deadline passed after the command was written.
   * @throws {NotConnectedError} nothing was sent.
   */
  send(command: RedisCommand, options?: SendOptions): Promise<RedisReply>;
  /**
   * Sends many commands in one write; one outcome each, in order. An error of one never hides the others.
   * Never rejects for what Redis or the network does: that is in the outcomes.
   */
  sendMany(commands: readonly RedisCommand[], options?: SendOptions): Promise<CommandOutcome[]>;
  /** Tears the socket down so that nothing more can arrive on it, and reconnects. For watchdogs. */
  drop(): void;
  readonly isConnected: boolean;
  /** Closes without waiting for replies that are still due. Idempotent. */
  close(): Promise<void>;
}

/** A running subscription to one channel. */
export interface RedisSubscription {
  /** Times the subscription was lost and made again. Whatever was published between is gone. */
  readonly gaps: number;
  close(): Promise<void>;
}

export interface SubscribeOptions {
  readonly name: string;
  /** SSUBSCRIBE: hears what SPUBLISH sends, and nothing else. Redis 7.0; not over valkey-glide. Default false. */
  readonly sharded?: boolean;
  /** Called when the subscription was lost: messages published from now on are missed. */
  readonly onGap?: (error: Error | undefined) => void;
  /** Called when it is subscribed again. */
  readonly onResubscribe?: () => void;
  /** How often a PING asks whether the silent connection still lives, in milliseconds. Default 1000. */
  readonly heartbeatMs?: number;
  /** Called for each PING that was answered. */
  readonly onAlive?: () => void;
}

export interface RedisClient {
  /** Which library carries it: `node-redis`, `ioredis`. For messages and reports, never to branch on. */
  readonly library: string;
  /** As in RedisConnection, on the shared connection. Never for a blocking command. */
  send(command: RedisCommand, options?: SendOptions): Promise<RedisReply>;
  /** As in RedisConnection, on the shared connection. */
  sendMany(commands: readonly RedisCommand[], options?: SendOptions): Promise<CommandOutcome[]>;
  /** Opens a connection of its own, configured as the shared one. Resolves when it is usable. */
  openConnection(options: ConnectionOptions): Promise<RedisConnection>;
  /**
   * Subscribes on a connection of its own. Resolves once Redis has confirmed. `onMessage` must not throw.
   * @throws {InvalidOptionError} the library cannot subscribe in this way.
   * @throws {NotConnectedError} the first connection or subscription failed.
   */
  subscribe(
    channel: string,
    onMessage: (body: Buffer) => void,
    options: SubscribeOptions,
  ): Promise<RedisSubscription>;
  /** Closes everything the adapter opened. The client that was passed in is its owner's to close. Idempotent. */
  close(): Promise<void>;
}

export interface AdapterOptions {
  /** Default deadline of a command in milliseconds. Default 5000. */
  readonly commandDeadlineMs?: number;
}
