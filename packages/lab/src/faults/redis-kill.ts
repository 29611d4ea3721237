import type { Fault } from './fault.js';

/** Redis crashes. What the append-only file had been given survives; a machine that crashes may lose more than that. */
export const redisKill = {
  name: 'redis-kill',
  summary: 'SIGKILL of Redis, started again',
  kind: 'redis-process',
  points: ['after-read', 'after-handling', 'while-draining', 'mid-pipeline'],
  persistence: ['always', 'none'],
  needsOwnServer: true,
  strike: ({ server }) => server.crash(),
} satisfies Fault;
