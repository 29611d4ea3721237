import { nodeRedis as adapter } from '@weir/patterns/client/node-redis';
import { connectNodeRedis } from '../node-redis-client.js';
import type { PipelineLibrary } from './pipelines.js';

/** node-redis 6: `multi().execAsPipeline()`, which rejects with the first error. */
export const nodeRedis = {
  name: 'node-redis',
  async open(url) {
    const client = await connectNodeRedis(url);
    return {
      redis: adapter(client),
      async setAll(entries) {
        const pipeline = client.multi();
        for (const [key, value] of entries) pipeline.set(key, value);
        await pipeline.execAsPipeline();
      },
    };
  },
} as const satisfies PipelineLibrary;
