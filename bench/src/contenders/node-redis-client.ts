import { createClient } from 'redis';

/**
 * The client below both the bare contenders and weir: the same library with the same settings, so that what is
 * left between them is weir.
 */
export async function connectNodeRedis(url: string) {
  const client = createClient({ url, disableOfflineQueue: true, maintNotifications: 'disabled', RESP: 2 });
  // Commands in flight reject with the same error, which ends the trial; without a listener it would be thrown.
  client.on('error', () => undefined);
  return client.connect();
}

export type NodeRedisClient = Awaited<ReturnType<typeof connectNodeRedis>>;
