import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.js';

/** What the handler writes to is away for a while. It says so (`DependencyUnavailableError`): no message is at fault. */
export const storeDown = {
  name: 'store-down',
  summary: "the handler's database is away for a while",
  kind: 'dependency',
  points: ['after-read', 'while-draining'],
  async strike({ consumer, settings, release }) {
    await consumer.setStoreDown(true);
    release();
    await delay(settings.outageMs);
    await consumer.setStoreDown(false);
  },
} satisfies Fault;
