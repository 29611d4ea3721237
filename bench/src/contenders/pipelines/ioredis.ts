import { ioredis as adapter } from '@weir/patterns/client/ioredis';
import { Redis } from 'ioredis';
import type { PipelineLibrary } from './pipelines.js';

/** ioredis 6: `pipeline().exec()`, which resolves with an error or a reply for each command. */
export const ioredis = {
  name: 'ioredis',
  async open(url) {
    const client = new Redis(url, { lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 0 });
    await client.connect();
    return {
      redis: adapter(client),
      async setAll(entries) {
        const pipeline = client.pipeline();
        for (const [key, value] of entries) pipeline.set(key, value);
        for (const [error] of (await pipeline.exec()) ?? []) if (error !== null) throw error;
      },
    };
  },
} as const satisfies PipelineLibrary;
