import { Batch, GlideClient, type GlideClientConfiguration, Logger } from '@valkey/valkey-glide';
import { valkeyGlide as adapter } from '@weir/patterns/client/valkey-glide';
import type { PipelineLibrary } from './pipelines.js';

/** valkey-glide 2: a non-atomic `Batch`, told to reject with the first error. */
export const valkeyGlide = {
  name: 'valkey-glide',
  async open(url) {
    // It writes warnings to standard output, where the result goes.
    Logger.init('off');
    const { hostname, port } = new URL(url);
    const configuration: GlideClientConfiguration = {
      addresses: [{ host: hostname, port: Number(port) }],
      // Its default of 250 ms would void a trial for a moment in which others have the processor.
      requestTimeout: 10_000,
    };
    const client = await GlideClient.createClient(configuration);
    return {
      redis: adapter(client, configuration),
      async setAll(entries) {
        const batch = new Batch(false);
        for (const [key, value] of entries) batch.set(key, value);
        await client.exec(batch, true);
      },
    };
  },
} as const satisfies PipelineLibrary;
