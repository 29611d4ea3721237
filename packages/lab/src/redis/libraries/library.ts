import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { RedisClient } from '@weir/patterns';
import type { Milliseconds } from '../../core/units.js';

/** The contract of a client library the lab can measure with: how its own client is made, and which adapter fits. */
export interface Library {
  /** As `RedisClient.library` and the file name: `node-redis`. */
  readonly name: string;
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
  /**
   * Commands sent in the same turn of the event loop leave in one write, where the library leaves the choice (ioredis,
   * iovalkey). Default false there; node-redis and valkey-glide always do it.
   */
  readonly autoPipelining?: boolean;
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

/**
 * Version of an installed package, from its package.json; undefined where it is not installed. Found by the folders Node
 * would look in, because some packages do not export their package.json.
 */
export function installedVersion(packageName: string): string | undefined {
  const folders = createRequire(import.meta.url).resolve.paths(packageName) ?? [];
  for (const folder of folders) {
    const version = versionIn(join(folder, packageName, 'package.json'));
    if (version !== undefined) return version;
  }
  return undefined;
}

function versionIn(path: string): string | undefined {
  try {
    const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const known = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
    return known ? String(manifest.version) : undefined;
  } catch {
    return undefined;
  }
}
