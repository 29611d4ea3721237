import type { RedisClient } from '@weir/patterns';
import type { Milliseconds } from '../../core/units.js';
import { type ConnectedClient, type ConnectOptions, reconnectDelayMs } from './library.js';

/** The part of ioredis, and of the libraries that grew out of it, that is used here. */
interface FamilyClient {
  on(event: 'error', listener: (error: Error) => void): unknown;
  connect(): Promise<void>;
  disconnect(): void;
}

/** What their constructors are given besides the URL. */
interface FamilyOptions {
  lazyConnect: true;
  connectionName: string;
  connectTimeout: Milliseconds;
  enableOfflineQueue: false;
  enableAutoPipelining: boolean;
  autoResendUnfulfilledCommands: false;
  maxRetriesPerRequest: 0;
  retryStrategy: (times: number) => Milliseconds | null;
}

/** Connects as `Library.connect` says; the libraries differ in the constructor and the adapter only. */
export async function connectFamily<Client extends FamilyClient>(
  create: (options: FamilyOptions) => Client,
  adapt: (client: Client) => RedisClient,
  { name, connectTimeoutMs, autoPipelining = false }: ConnectOptions,
): Promise<ConnectedClient> {
  let connectedOnce = false;
  const client = create({
    lazyConnect: true,
    connectionName: name,
    connectTimeout: connectTimeoutMs,
    enableOfflineQueue: false,
    enableAutoPipelining: autoPipelining,
    // Its defaults send unanswered commands again after a reconnect: an XADD would then count twice.
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => (connectedOnce ? reconnectDelayMs(times - 1) : null),
  });
  let reason: Error | undefined;
  client.on('error', (error) => {
    reason = error;
  });
  try {
    await client.connect();
  } catch (error) {
    client.disconnect();
    // connect() says only "Connection is closed."; why, it has told its listeners.
    throw reason ?? error;
  }
  connectedOnce = true;
  const adapted = adapt(client);
  return {
    client: adapted,
    close: async () => {
      await adapted.close();
      client.disconnect();
    },
  };
}
