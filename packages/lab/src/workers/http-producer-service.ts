import { ResourceMeter } from '../measure/resources.js';
import { type RunningService, startProducerService } from '../services/start-service.js';
import type { ProducerServiceApi } from './http-api.js';
import { serveWorker } from './worker-channel.js';

/** A service whose trial is over has nothing to finish. */
const CLOSE_DEADLINE_MS = 1_000;

/** `weir serve producer` as a worker of a trial. */
serveWorker((): ProducerServiceApi => {
  const meter = new ResourceMeter();
  let service: RunningService | undefined;
  return {
    async prepare({ url, ...settings }) {
      service = await startProducerService({
        ...settings,
        redisUrl: url,
        host: '127.0.0.1',
        port: 0,
        token: undefined,
        requestsPerSecond: undefined,
        log: undefined,
      });
    },
    address() {
      if (service === undefined) throw new Error('prepare comes first');
      return service.url;
    },
    beginWindow() {
      meter.begin();
    },
    endWindow() {
      return meter.end();
    },
    async close() {
      await service?.close(CLOSE_DEADLINE_MS);
    },
  };
});
