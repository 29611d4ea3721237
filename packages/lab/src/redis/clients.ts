import { unknownName, WeirError } from '../core/errors.js';
import { redact } from './address.js';
import { ioredis } from './libraries/ioredis.js';
import type { ConnectedClient, Library } from './libraries/library.js';
import { nodeRedis } from './libraries/node-redis.js';

const LIBRARIES = { 'node-redis': nodeRedis, ioredis } as const satisfies Record<string, Library>;

/** Name of a client library the lab can measure with. */
export type ClientLibrary = keyof typeof LIBRARIES;

/** All of them with their installed versions, the default first. */
export const clientLibraries: readonly { readonly name: ClientLibrary; readonly version: string }[] =
  Object.values(LIBRARIES);

const CONNECT_TIMEOUT_MS = 2_500;

/** @throws {WeirError} UNKNOWN_NAME with the known ones */
export function clientLibrary(name: string): ClientLibrary {
  const known = clientLibraries.find((library) => library.name === name);
  if (known === undefined) {
    throw unknownName(
      'client',
      name,
      clientLibraries.map((library) => library.name),
    );
  }
  return known.name;
}

/**
 * Connects with a library and wraps its client for the patterns.
 * @param options `name` is shown by CLIENT LIST
 * @throws {WeirError} REDIS_UNREACHABLE when the first connection fails
 */
export async function connectClient(
  library: ClientLibrary,
  url: string,
  options: { readonly name: string },
): Promise<ConnectedClient & { readonly version: string }> {
  const { connect, version } = LIBRARIES[library];
  try {
    return { ...(await connect(url, { ...options, connectTimeoutMs: CONNECT_TIMEOUT_MS })), version };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WeirError('REDIS_UNREACHABLE', `${library} cannot connect to ${redact(url)}: ${reason}`, {
      cause,
    });
  }
}
