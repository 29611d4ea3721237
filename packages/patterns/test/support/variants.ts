import { readdirSync } from 'node:fs';
import { GlideClient, type GlideClientConfiguration, Logger, ProtocolVersion } from '@valkey/valkey-glide';
import { Redis } from 'ioredis';
import { Valkey } from 'iovalkey';
import { createClient } from 'redis';
import type { RedisClient } from '../../src/client/redis-client.js';
import type { MessagingPattern } from '../../src/messaging/pattern.js';

/** Names of the variants in a folder with a contract: every file in it that is not the contract. */
function variantsIn(folder: string, contract: string): string[] {
  return readdirSync(new URL(`../../src/${folder}/`, import.meta.url))
    .filter((file) => file.endsWith('.ts') && file !== contract)
    .map((file) => file.slice(0, -'.ts'.length));
}

/** `stream-group` exports `streamGroup`. */
export function exportedName(name: string): string {
  return name.replace(/-(.)/g, (_dash, letter: string) => letter.toUpperCase());
}

export async function loadPatterns(): Promise<MessagingPattern[]> {
  return Promise.all(
    variantsIn('messaging', 'pattern.ts').map(async (name) => {
      const module: Record<string, MessagingPattern> = await import(`../../src/messaging/${name}.ts`);
      const pattern = module[exportedName(name)];
      if (pattern === undefined) throw new Error(`${name}.ts does not export ${exportedName(name)}`);
      return pattern;
    }),
  );
}

export interface OpenClient {
  readonly redis: RedisClient;
  /** Closes the adapter and the library's client below it. */
  close(): Promise<void>;
}

/** Adapters of libraries that cannot duplicate a client take its configuration too. */
export type Wrap = (client: unknown, configuration?: unknown) => RedisClient;
type Protocol = 2 | 3;

/** How to make the library's client; the adapter itself is found by its file. */
const LIBRARIES: Record<string, (url: string, protocol: Protocol, wrap: Wrap) => Promise<OpenClient>> = {
  async 'node-redis'(url, protocol, wrap) {
    const client = createClient({ url, RESP: protocol });
    client.on('error', () => undefined);
    await client.connect();
    const redis = wrap(client);
    return {
      redis,
      async close() {
        await redis.close();
        client.destroy();
      },
    };
  },
  async ioredis(url, protocol, wrap) {
    const client = new Redis(url, { protocol, stringNumbers: true, lazyConnect: true });
    client.on('error', () => undefined);
    await client.connect();
    const redis = wrap(client);
    return {
      redis,
      async close() {
        await redis.close();
        client.disconnect();
      },
    };
  },
  // It speaks RESP2, whatever is asked for.
  async iovalkey(url, _protocol, wrap) {
    const client = new Valkey(url, { stringNumbers: true, lazyConnect: true });
    client.on('error', () => undefined);
    await client.connect();
    const redis = wrap(client);
    return {
      redis,
      async close() {
        await redis.close();
        client.disconnect();
      },
    };
  },
  async 'valkey-glide'(url, protocol, wrap) {
    const { hostname, port } = new URL(url);
    const configuration: GlideClientConfiguration = {
      addresses: [{ host: hostname, port: Number(port) }],
      protocol: protocol === 2 ? ProtocolVersion.RESP2 : ProtocolVersion.RESP3,
      requestTimeout: 10_000,
      inflightRequestsLimit: 1_000_000,
    };
    Logger.init('off');
    const client = await GlideClient.createClient(configuration);
    const redis = wrap(client, configuration);
    return {
      redis,
      async close() {
        await redis.close();
        client.close();
      },
    };
  },
};

/** What a library cannot do, whatever its adapter does; its header says the same. */
export interface LibraryLimits {
  /** Integers beyond 2^53 arrive exact; otherwise they are refused, never handed over rounded. Default true. */
  readonly exactIntegers?: boolean;
  /** Many commands in one write are answered one by one; otherwise all at once. Default true. */
  readonly answersOneByOne?: boolean;
  /** Subscribes in RESP2 too. Default true. */
  readonly subscribesOverResp2?: boolean;
  /** Subscribes to sharded channels. Default true. */
  readonly subscribesToSharded?: boolean;
  /** Reaches a server over a unix socket. Default true. */
  readonly unixSocket?: boolean;
  /**
   * Its connections break in sight, and what was published is handed over before a later answer. A library that
   * reconnects in silence carries commands and pipelines; what the messaging patterns promise under faults and while
   * draining is not promised over it.
   */
  readonly tellsOfLossAtOnce?: boolean;
}

const LIMITS: Record<string, LibraryLimits> = {
  'valkey-glide': {
    exactIntegers: false,
    answersOneByOne: false,
    subscribesOverResp2: false,
    subscribesToSharded: false,
    unixSocket: false,
    tellsOfLossAtOnce: false,
  },
};

export function limitsOf(name: string): Required<LibraryLimits> {
  return {
    exactIntegers: true,
    answersOneByOne: true,
    subscribesOverResp2: true,
    subscribesToSharded: true,
    unixSocket: true,
    tellsOfLossAtOnce: true,
    ...LIMITS[name],
  };
}

export const clientNames: readonly string[] = variantsIn('client', 'redis-client.ts');

/** The adapter, found by its file. */
export async function adapterOf(name: string): Promise<Wrap> {
  const module: Record<string, Wrap> = await import(`../../src/client/${name}.ts`);
  const wrap = module[exportedName(name)];
  if (wrap === undefined) throw new Error(`${name}.ts does not export ${exportedName(name)}`);
  return wrap;
}

export async function openClient(name: string, url: string, protocol: Protocol = 3): Promise<OpenClient> {
  const open = LIBRARIES[name];
  if (open === undefined) throw new Error(`say in LIBRARIES how to make a client of ${name}`);
  return open(url, protocol, await adapterOf(name));
}

/** The adapters over which the messaging patterns keep what they promise. */
export const messagingClientNames: readonly string[] = clientNames.filter(
  (name) => limitsOf(name).tellsOfLossAtOnce,
);
