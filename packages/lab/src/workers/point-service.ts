import { seededRandom } from '../core/random.js';
import { ResourceMeter } from '../measure/resources.js';
import { startPointService } from '../services/start-service.js';
import { strategyNamed } from '../services/strategies/load-strategies.js';
import type { PointServiceApi } from './point-api.js';
import { serveWorker } from './worker-channel.js';

const BODY_LIMIT_BYTES = 1024;

/** `weir serve point` as a worker of a trial. */
serveWorker((): PointServiceApi => {
  const meter = new ResourceMeter();
  return {
    async prepare({ url, strategy, seed, ...settings }) {
      const service = await startPointService({
        ...settings,
        strategy: await strategyNamed(strategy),
        random: seededRandom(seed),
        redisUrl: url,
        host: '127.0.0.1',
        port: 0,
        token: undefined,
        bodyLimitBytes: BODY_LIMIT_BYTES,
        requestsPerSecond: undefined,
        log: undefined,
      });
      return service.url;
    },
    beginWindow() {
      meter.begin();
    },
    endWindow() {
      return meter.end();
    },
  };
});
