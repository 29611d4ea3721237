import type { Fault } from './fault.js';

/** The process of the consumer ends without a word (SIGKILL, out of memory) and is started again under its name. */
export const consumerKill = {
  name: 'consumer-kill',
  summary: 'SIGKILL of the consumer, started again under the same name',
  kind: 'consumer',
  points: ['after-read', 'after-handling', 'while-draining', 'mid-pipeline'],
  async strike({ consumer }) {
    consumer.signal('SIGKILL');
    await consumer.exited;
    await consumer.restart();
  },
} satisfies Fault;
