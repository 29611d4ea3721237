import type { Fault } from './fault.js';

/** The primary dies and its replica takes its place. Replication is asynchronous: what was not sent on yet is lost. */
export const failover = {
  name: 'failover',
  summary: 'the primary dies and its replica is promoted',
  kind: 'redis-data',
  points: ['after-read', 'after-handling', 'while-draining', 'mid-pipeline'],
  needsOwnServer: true,
  needsReplica: true,
  strike: ({ server }) => server.failOver(),
} satisfies Fault;
