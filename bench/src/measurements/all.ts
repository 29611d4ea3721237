import { drain } from './drain.js';
import { endToEnd } from './end-to-end.js';
import { enqueue } from './enqueue.js';
import { httpSend } from './http-send.js';
import type { Measurement } from './measurement.js';
import { memory } from './memory.js';
import { oneInFlight } from './one-in-flight.js';
import { pipelines } from './pipeline.js';
import { produce } from './produce.js';
import { stores } from './store.js';

/** In the order of the table. */
export const measurements: readonly Measurement[] = [
  endToEnd,
  enqueue,
  drain,
  oneInFlight,
  ...produce,
  memory,
  httpSend,
  ...pipelines,
  ...stores,
];
