import type { Fault } from './fault.js';

/** SIGTERM under load, as a deployment does it: the consumer stops in order, and the next one is started. */
export const shutdown = {
  name: 'shutdown',
  summary: 'SIGTERM of the consumer under load: it stops in order, and a new process is started',
  kind: 'shutdown',
  points: ['after-read', 'after-handling'],
  async strike({ consumer, release }) {
    consumer.signal('SIGTERM');
    // It finishes what it holds.
    release();
    await consumer.exited;
    await consumer.restart();
  },
} satisfies Fault;
