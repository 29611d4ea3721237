import type { Fault } from './fault.js';

/** Redis is ended in order and started again, as for an upgrade. It comes back with what it persisted. */
export const redisRestart = {
  name: 'redis-restart',
  summary: 'Redis is ended in order (SIGTERM) and started again',
  kind: 'redis-process',
  points: ['after-read', 'after-handling', 'while-draining', 'mid-pipeline'],
  persistence: ['always', 'everysec', 'none'],
  needsOwnServer: true,
  strike: ({ server }) => server.restart(),
} satisfies Fault;
