import type { Fault } from './fault.js';

/** Somebody runs FLUSHALL. Streams, groups, lists and offsets are gone; what comes afterwards must be handled. */
export const flushall = {
  name: 'flushall',
  summary: 'FLUSHALL: everything in Redis is gone',
  kind: 'redis-data',
  points: ['after-read', 'after-handling', 'while-draining', 'mid-pipeline'],
  needsOwnServer: true,
  async strike({ redis }) {
    await redis.send(['FLUSHALL']);
  },
} satisfies Fault;
