import type { CommandOutcome, RedisClient, RedisCommand } from '../../client/redis-client.js';
import type { Run } from './run.js';

/** The way of a running consumer to Redis. */
export interface Reader {
  /**
   * Writes the commands at once and waits for their outcomes.
   * @param blockMs how long the last command may block; 0 when none does
   */
  exchange(commands: readonly RedisCommand[], blockMs?: number): Promise<CommandOutcome[]>;
  /** Ends a wait that goes on now, as if its time were up. Never rejects. */
  interrupt(): Promise<void>;
  close(): Promise<void>;
}

/** @param onReconnect called when it is usable again after it was lost */
export type OpenReader<R extends Reader> = (
  client: RedisClient,
  name: string,
  run: Run,
  onReconnect: () => void,
) => Promise<R>;

/** CLIENT SETNAME takes printable ASCII without spaces. */
export function connectionName(name: string): string {
  return name.replace(/[^!-~]/g, '_');
}
