import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.js';

/** One way, in milliseconds; a round trip is twice that, give or take the jitter. */
const SLOW = { latencyMs: 50, jitterMs: 40 };
const NO_DELAY = { latencyMs: 0 };

/** The network becomes slow and uneven for a while. */
export const latency = {
  name: 'latency',
  summary: 'every round trip to Redis takes 20 to 180 ms for a while',
  kind: 'delay',
  points: ['after-read', 'after-handling', 'while-draining', 'mid-pipeline'],
  async strike({ proxy, settings, release }) {
    proxy.set({ toServer: SLOW, toClient: SLOW });
    release();
    await delay(settings.outageMs);
    proxy.set({ toServer: NO_DELAY, toClient: NO_DELAY });
  },
} satisfies Fault;
