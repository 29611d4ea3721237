import { Command } from 'iovalkey';
import { adaptFamily, type FamilyClient } from './internal/ioredis-family.js';
import type { AdapterOptions, RedisClient } from './redis-client.js';

/**
 * Adapter for iovalkey 0.2 to 0.4, the fork of ioredis 5 that is kept for Valkey. It speaks RESP2.
 *
 *     const redis = iovalkey(new Valkey(url));
 *
 * All that is said of `ioredis` holds: of the shared client, create it with `autoResendUnfulfilledCommands: false` so
 * that no command runs twice, and with `stringNumbers: true` if integers beyond 2^53 are expected.
 *
 * @throws {InvalidOptionError} a deadline that is not above 0.
 */
export function iovalkey(client: IovalkeyClient, options?: AdapterOptions): RedisClient {
  return adaptFamily({ name: 'iovalkey', Command }, client, options);
}

/** The part of an iovalkey client that is used here; any `new Valkey()` fits. */
export type IovalkeyClient = FamilyClient;
