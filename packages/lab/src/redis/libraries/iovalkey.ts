import { iovalkey as adapter } from '@weir/patterns/client/iovalkey';
import { Valkey } from 'iovalkey';
import { type Library, reconnectDelayMs } from './library.js';

/** iovalkey, https://github.com/valkey-io/iovalkey. Automatic pipelining is off unless asked for, as the library has it. */
export const iovalkey = {
  name: 'iovalkey',
  connect: async (url, { name, connectTimeoutMs, autoPipelining = false }) => {
    let connectedOnce = false;
    const client = new Valkey(url, {
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
    client.on('error', (error: Error) => {
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
    const adapted = adapter(client);
    return {
      client: adapted,
      close: async () => {
        await adapted.close();
        client.disconnect();
      },
    };
  },
} as const satisfies Library;
