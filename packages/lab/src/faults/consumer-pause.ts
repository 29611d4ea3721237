import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.js';

/** The lease must have passed for certain, and another consumer have had the time to look. */
const LEASES = 2.5;

/**
 * The process stands still for longer than its lease (SIGSTOP; a long garbage collection, a suspended machine). Another
 * consumer takes over what it held. Then the zombie comes back and goes on as if nothing had been.
 */
export const consumerPause = {
  name: 'consumer-pause',
  summary: 'SIGSTOP of the consumer for longer than its lease; then the zombie goes on',
  kind: 'consumer',
  points: ['after-read', 'after-handling', 'while-draining'],
  consumers: 2,
  async strike({ consumer, settings }) {
    consumer.signal('SIGSTOP');
    await delay(settings.leaseMs * LEASES);
    consumer.signal('SIGCONT');
  },
} satisfies Fault;
