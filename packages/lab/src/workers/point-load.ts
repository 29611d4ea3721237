import { ResourceMeter } from '../measure/resources.js';
import type { PointLoadApi, PointLoadSettings } from './point-api.js';
import { closedPointLoad } from './point-load-closed.js';
import { openPointLoad } from './point-load-open.js';
import { serveWorker } from './worker-channel.js';

/** The load on the point services of a connections trial, closed or open. */
serveWorker((emit): PointLoadApi => {
  const meter = new ResourceMeter();
  let prepared: PointLoadSettings | undefined;
  return {
    prepare(settings) {
      prepared = settings;
    },
    run(load) {
      if (prepared === undefined) throw new Error('prepare comes first');
      const tell = (answered: number): void => void emit('answered', answered);
      return load.mode === 'closed'
        ? closedPointLoad(prepared, load, tell)
        : openPointLoad(prepared, load, tell);
    },
    beginWindow() {
      meter.begin();
    },
    endWindow() {
      return meter.end();
    },
  };
});
