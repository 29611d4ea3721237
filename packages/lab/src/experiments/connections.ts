import { replayConnections } from './connections/as-published.js';
import { keysOf } from './connections/entries.js';
import { reachApps } from './connections/given-apps.js';
import { memoryOf, refuseBeyondMaxClients } from './connections/limits.js';
import { connectionsMetrics } from './connections/measurement.js';
import { type ConnectionsOptions, OPTIONS, parseOptions } from './connections/options.js';
import { connectionsRemarks } from './connections/remarks.js';
import { connectionsTrial } from './connections/trial.js';
import type { Experiment } from './experiment.js';

/** Processes are started and ended. */
const TRIAL_OVERHEAD_MS = 2_000;
/** A cautious guess at entries loaded in a millisecond. */
const ENTRIES_PER_MS = 50;

/**
 * How should a web app get at Redis? The same app under the same load, with a connection for each request, with pools of
 * several sizes, and with one connection for all.
 */
export const connections = {
  name: 'connections',
  counted: { one: 'request', many: 'requests', fate: 'were answered' },
  summary: 'compares connection strategies of a web app: per request, pool, one multiplexed connection',
  question: 'Which connection strategy lets a web app answer the most requests, and what does it cost Redis?',
  options: OPTIONS,
  parse: parseOptions,
  factors: ({ choices, givenApps, clients, rates }) => [
    {
      name: 'strategy',
      values: givenApps.length > 0 ? givenApps.map(({ name }) => name) : choices.map(({ label }) => label),
    },
    { name: 'client', values: clients },
    ...(rates.length > 0 ? [{ name: 'rate', values: rates }] : []),
  ],
  workload: (options) => ({
    mode: options.rates.length > 0 ? 'open' : 'closed',
    users: options.users,
    request: options.request,
    entries: options.entries,
    entriesMemoryBytes: memoryOf(options.entries),
    hitRate: options.request === 'get' && options.givenApps.length === 0 ? options.hitRate : null,
    apps: options.givenApps.length > 0 ? null : options.apps,
    producers: options.producers,
    keyPrefix: options.keyPrefix,
    durationSeconds: options.durationMs / 1000,
    warmUpSeconds: options.warmUpMs / 1000,
  }),
  metrics: connectionsMetrics,
  estimateTrialMs: ({ warmUpMs, durationMs, entries, request }) =>
    TRIAL_OVERHEAD_MS + warmUpMs + durationMs + (request === 'save' ? entries / ENTRIES_PER_MS : 0),
  keys: keysOf,
  reach: reachApps,
  checkRedis: (redis, options) =>
    refuseBeyondMaxClients(redis, { ...options, appsAreGiven: options.givenApps.length > 0 }),
  trial: connectionsTrial,
  remarks: connectionsRemarks,
  replay: replayConnections,
} satisfies Experiment<ConnectionsOptions>;
