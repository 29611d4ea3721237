import { iovalkey as adapter } from '@weir/patterns/client/iovalkey';
import { Valkey } from 'iovalkey';
import type { PipelineLibrary } from './pipelines.js';

/** iovalkey 0.4: `pipeline().exec()`, which resolves with an error or a reply for each command. */
export const iovalkey = {
  name: 'iovalkey',
  async open(url) {
    const client = new Valkey(url, { lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 0 });
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
