import type { RedisClient, RedisConnection } from '@weir/patterns';

/**
 * The contract of a connection strategy: how a service that answers many requests at once gets at Redis. One file per
 * strategy; the file name is the name it is chosen by.
 */
export interface ConnectionStrategy {
  /** Registered name; equals the file name. */
  readonly name: string;
  readonly summary: string;
  readonly capabilities: StrategyCapabilities;
  /**
   * Opens what the strategy keeps open between requests.
   * @param client the service's own client: one connection, which every strategy keeps for readiness checks
   * @throws what `RedisClient.openConnection` throws when Redis refuses a connection (`maxclients`, password)
   */
  open(client: RedisClient, options: StrategyOptions): Promise<OpenStrategy>;
}

/** What a strategy declares; a run holds it against what Redis counts. */
export interface StrategyCapabilities {
  /** `poolSize` and `test` mean something to it. */
  readonly pooled: boolean;
  /** Requests share a connection, so that automatic pipelining has commands to join. */
  readonly shared: boolean;
  /** Connections made for each use. */
  readonly connectionsPerUse: number;
  /** Connections it keeps open beside the service's own. */
  idleConnections(options: StrategyOptions): number;
  /** PINGs sent for each use, to find out whether a connection still lives. */
  pingsPerUse(options: StrategyOptions): number;
}

/** When a pool asks a connection with PING whether it lives (Jedis: `testOnBorrow`, `testOnReturn`). */
export type ConnectionTest = 'never' | 'on-borrow' | 'on-borrow-and-return';

export interface StrategyOptions {
  /** Connections of a pool, at least 1. */
  readonly poolSize: number;
  readonly test: ConnectionTest;
}

/** What a request may do with a connection. */
export type Commands = Pick<RedisConnection, 'send'>;

export interface OpenStrategy {
  /**
   * Does one request's work on a connection.
   * @throws {PoolExhaustedError} no connection became free in time
   * @throws what opening a connection or `work` throws
   */
  use<T>(work: (commands: Commands) => Promise<T>): Promise<T>;
  /** Closes what it opened; the client is its owner's to close. */
  close(): Promise<void>;
}

/** Every connection of a pool was in use for longer than a request may wait. */
export class PoolExhaustedError extends Error {
  constructor(options?: ErrorOptions) {
    super('no connection of the pool became free in time: use a larger pool, or send less', options);
    this.name = 'PoolExhaustedError';
  }
}

/** CLIENT LIST shows connections of strategies under this name. */
export const CONNECTION_NAME = 'weir-point';
