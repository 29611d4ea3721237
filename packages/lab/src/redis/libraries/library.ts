import { createRequire } from 'node:module';
import type { RedisClient } from '@weir/patterns';
import type { Milliseconds } from '../../core/units.js';

/** The contract of a client library the lab can measure with: how its own client is made, and which adapter fits. */
export interface Library {
  /** As `RedisClient.library` and the file name: `node-redis`. */
  readonly name: string;
  /** Of the installed package. */
  readonly version: string;
  /**
   * Connects a client for a worker. It fails fast: commands are refused while the connection is down, none is sent
   * a second time by the library, and the first connection is tried once.
   * @throws what the library throws when the first connection fails
   */
  connect(url: string, options: ConnectOptions): Promise<ConnectedClient>;
}

export interface ConnectOptions {
  /** Shown by CLIENT LIST, without spaces. */
  readonly name: string;
  readonly connectTimeoutMs: Milliseconds;
}

export interface ConnectedClient {
  readonly client: RedisClient;
  /** Closes the adapter's connections and the client. Replies still due are not waited for. Idempotent. */
  close(): Promise<void>;
}

/** Wait before reconnection attempt `attempt` (from 0): 20 ms, doubling up to 2 s. */
export function reconnectDelayMs(attempt: number): Milliseconds {
  return Math.min(20 * 2 ** Math.min(attempt, 10), 2_000);
}

/** Version of an installed package, from its package.json. */
export function installedVersion(packageName: string): string {
  const manifest: unknown = createRequire(import.meta.url)(`${packageName}/package.json`);
  const known = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return known ? String(manifest.version) : 'unknown';
}
