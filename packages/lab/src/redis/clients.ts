import { unknownName, WeirError } from '../core/errors.js';
import { redact } from './address.js';
import { type ConnectedClient, installedVersion, type Library } from './libraries/library.js';

/** The packages are loaded when they are used: a lab without one of them can measure with the others. */
const LIBRARIES = {
  'node-redis': {
    packageName: 'redis',
    load: async () => (await import('./libraries/node-redis.js')).nodeRedis,
  },
  ioredis: { packageName: 'ioredis', load: async () => (await import('./libraries/ioredis.js')).ioredis },
  iovalkey: { packageName: 'iovalkey', load: async () => (await import('./libraries/iovalkey.js')).iovalkey },
  'valkey-glide': {
    packageName: '@valkey/valkey-glide',
    load: async () => (await import('./libraries/valkey-glide.js')).valkeyGlide,
    reconnectsInSilence: true,
  },
} as const satisfies Record<string, LibraryEntry>;

interface LibraryEntry {
  readonly packageName: string;
  load(): Promise<Library>;
  /**
   * It hides that a connection was lost, so what the patterns promise under faults is not promised over it. Default false.
   */
  readonly reconnectsInSilence?: boolean;
}

/** Name of a client library the lab can measure with. */
export type ClientLibrary = keyof typeof LIBRARIES;

/** The default first. */
const NAMES = ['node-redis', 'ioredis', 'iovalkey', 'valkey-glide'] as const satisfies ClientLibrary[];

/** Over which the patterns keep their promises while connections break. */
export const faultTolerantLibraries: readonly ClientLibrary[] = NAMES.filter((name) => {
  const entry: LibraryEntry = LIBRARIES[name];
  return entry.reconnectsInSilence !== true;
});

/** Those that are installed, with their versions, the default first. */
export const clientLibraries: readonly { readonly name: ClientLibrary; readonly version: string }[] =
  NAMES.flatMap((name) => {
    const version = installedVersion(LIBRARIES[name].packageName);
    return version === undefined ? [] : [{ name, version }];
  });

const CONNECT_TIMEOUT_MS = 2_500;

/** @throws {WeirError} UNKNOWN_NAME with the known ones, CLIENT_MISSING with the command that installs it */
export function clientLibrary(name: string): ClientLibrary {
  const known = NAMES.find((library) => library === name);
  if (known === undefined) throw unknownName('client', name, NAMES);
  versionOf(known);
  return known;
}

/**
 * Connects with a library and wraps its client for the patterns.
 * @param options `name` is shown by CLIENT LIST; `autoPipelining` as in `ConnectOptions`
 * @throws {WeirError} REDIS_UNREACHABLE when the first connection fails, CLIENT_MISSING without the library
 */
export async function connectClient(
  library: ClientLibrary,
  url: string,
  options: { readonly name: string; readonly autoPipelining?: boolean },
): Promise<ConnectedClient & { readonly version: string }> {
  const version = versionOf(library);
  const { connect } = await LIBRARIES[library].load();
  try {
    return { ...(await connect(url, { ...options, connectTimeoutMs: CONNECT_TIMEOUT_MS })), version };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WeirError('REDIS_UNREACHABLE', `${library} cannot connect to ${redact(url)}: ${reason}`, {
      cause,
    });
  }
}

function versionOf(library: ClientLibrary): string {
  const { packageName } = LIBRARIES[library];
  const version = installedVersion(packageName);
  if (version !== undefined) return version;
  throw new WeirError('CLIENT_MISSING', `the client library ${library} is not installed`, {
    remedy: `install it with: npm install ${packageName}`,
  });
}
