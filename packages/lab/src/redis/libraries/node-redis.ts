import { createClient } from '@redis/client';
import { nodeRedis as adapter } from '@weir/patterns/client/node-redis';
import { type Library, reconnectDelayMs } from './library.js';

/**
 * node-redis, https://github.com/redis/node-redis: the default of the lab. Pipelines by itself. Only its core is loaded
 * (`@redis/client`, what `redis` re-exports): a worker is ready 50 ms sooner without the modules' commands.
 */
export const nodeRedis = {
  name: 'node-redis',
  connect: async (url, { name, connectTimeoutMs }) => {
    let connectedOnce = false;
    const client = createClient({
      url,
      name,
      disableOfflineQueue: true,
      maintNotifications: 'disabled',
      socket: {
        connectTimeout: connectTimeoutMs,
        reconnectStrategy: (retries) => (connectedOnce ? reconnectDelayMs(retries) : false),
      },
    });
    // Commands in flight fail with the same error, and are counted there; without a listener it would be thrown.
    client.on('error', () => undefined);
    await client.connect();
    connectedOnce = true;
    const adapted = adapter(client);
    return {
      client: adapted,
      close: async () => {
        await adapted.close();
        if (client.isOpen) client.destroy();
      },
    };
  },
} as const satisfies Library;
