import type { Fault } from './fault.js';

/** Every connection is reset (a proxy or a load balancer restarts, CLIENT KILL); new ones are accepted at once. */
export const connectionReset = {
  name: 'connection-reset',
  summary: 'all connections to Redis are reset at once',
  kind: 'connection',
  points: ['after-read', 'after-handling', 'while-draining', 'mid-pipeline'],
  async strike({ proxy }) {
    proxy.resetAll();
  },
} satisfies Fault;
