import { Command } from 'ioredis';
import { adaptFamily, type FamilyClient } from './internal/ioredis-family.js';
import type { AdapterOptions, RedisClient } from './redis-client.js';

/**
 * Adapter for ioredis 5.4 to 6, RESP2 and RESP3.
 *
 *     const redis = ioredis(new Redis(url));
 *
 * `sendMany` hands each command to `sendCommand` and writes them together; automatic pipelining, where it is on, is
 * left to the library for commands that are sent one by one.
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
  return adaptFamily({ name: 'ioredis', Command }, client, options);
}

/** The part of an ioredis client that is used here; any `new Redis()` fits. */
export type IoredisClient = FamilyClient;
