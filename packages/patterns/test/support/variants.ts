import { readdirSync } from 'node:fs';
import { Redis } from 'ioredis';
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

type Wrap = (client: unknown) => RedisClient;
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
};

export const clientNames: readonly string[] = variantsIn('client', 'redis-client.ts');

export async function openClient(name: string, url: string, protocol: Protocol = 3): Promise<OpenClient> {
  const module: Record<string, Wrap> = await import(`../../src/client/${name}.ts`);
  const wrap = module[exportedName(name)];
  const open = LIBRARIES[name];
  if (wrap === undefined) throw new Error(`${name}.ts does not export ${exportedName(name)}`);
  if (open === undefined) throw new Error(`say in LIBRARIES how to make a client of ${name}`);
  return open(url, protocol, wrap);
}
