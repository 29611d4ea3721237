import { once } from 'node:events';
import { connect } from 'node:net';
import { GlideClient, type GlideClientConfiguration, Logger } from '@valkey/valkey-glide';
import { valkeyGlide as adapter } from '@weir/patterns/client/valkey-glide';
import type { Library } from './library.js';

/** Batches of any size in flight; glide refuses from 1000 on by default. */
const MOST_IN_FLIGHT = 10_000_000;
/** Every call of the adapter has its own, shorter deadline. */
const REQUEST_TIMEOUT_MS = 60_000;

/**
 * valkey-glide, https://github.com/valkey-io/valkey-glide: a core in Rust that joins commands into writes by itself. It
 * reconnects without being told, and keeps a closed connection open for up to three seconds.
 */
export const valkeyGlide = {
  name: 'valkey-glide',
  connect: async (url, { name, connectTimeoutMs }) => {
    // It writes warnings to standard output, where the report goes.
    Logger.init('off');
    await knock(new URL(url), connectTimeoutMs);
    const configuration = { ...configurationFrom(new URL(url)), clientName: name };
    const client = await GlideClient.createClient({
      ...configuration,
      advancedConfiguration: { connectionTimeout: connectTimeoutMs },
    });
    const adapted = adapter(client, configuration);
    let isOpen = true;
    return {
      client: adapted,
      close: async () => {
        await adapted.close();
        if (isOpen) client.close();
        isOpen = false;
      },
    };
  },
} as const satisfies Library;

/** Glide tries again and again until its time is up, and then says only that; the kernel knows at once, and why. */
async function knock(url: URL, timeoutMs: number): Promise<void> {
  const socket = connect({ host: hostOf(url), port: portOf(url), timeout: timeoutMs });
  socket.once('timeout', () => socket.destroy(new Error(`no connection within ${timeoutMs} ms`)));
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

function portOf(url: URL): number {
  return Number(url.port || 6379);
}

function configurationFrom(url: URL): GlideClientConfiguration {
  const database = Number(url.pathname.slice(1));
  const username = decodeURIComponent(url.username);
  const password = decodeURIComponent(url.password);
  return {
    addresses: [{ host: hostOf(url), port: portOf(url) }],
    useTLS: url.protocol === 'rediss:',
    requestTimeout: REQUEST_TIMEOUT_MS,
    inflightRequestsLimit: MOST_IN_FLIGHT,
    ...(password !== '' && { credentials: { password, ...(username !== '' && { username }) } }),
    ...(database > 0 && { databaseId: database }),
  };
}
