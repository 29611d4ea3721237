import { shownStore } from '../stores/load-stores.js';
import type { Experiment } from './experiment.js';
import { replayAsPublished } from './messaging/as-published.js';
import { httpRemarks } from './messaging/http-share.js';
import { messagingMetrics } from './messaging/measurement.js';
import { type MessagingOptions, OPTIONS, parseOptions } from './messaging/options.js';
import { reachStoreAndServices } from './messaging/reach.js';
import { messagingTrial } from './messaging/trial.js';

/** Processes are started and ended, and the load warms up; the rest is the load itself. */
const TRIAL_OVERHEAD_MS = 600;
/** A cautious guess at messages per second, for the estimate only; the progress display learns the real one. */
const GUESSED_PER_SECOND = 20_000;

/**
 * Which messaging pattern? The four (and whatever else lies in `@weir/patterns`) under the same load, at the same
 * batch size, through the same client, into the same store.
 */
export const messaging = {
  name: 'messaging',
  summary: 'compares messaging patterns: throughput, latency, and what is lost',
  question:
    'Which messaging pattern moves messages from a producer to a consumer fastest here, and does it lose any?',
  options: OPTIONS,
  parse: parseOptions,
  factors: ({ patterns, batches, clients }) => [
    { name: 'pattern', values: patterns.map(({ name }) => name) },
    { name: 'batch', values: batches },
    { name: 'client', values: clients },
  ],
  workload: (options) => ({
    mode: options.mode,
    ...('messages' in options.until
      ? { messages: options.until.messages }
      : { durationSeconds: options.until.durationMs / 1000 }),
    perSecond: options.perSecond ?? null,
    payloadBytes: options.payloadBytes,
    producers: options.producers,
    consumers: options.consumers,
    bulk: options.bulk,
    inFlight: options.mode === 'capacity' ? options.inFlight : null,
    warmUpSeconds: options.warmUp.capMs / 1000,
    store: options.storeIsOurs ? 'sqlite' : shownStore(options.store),
    keyPrefix: options.keyPrefix,
    via: options.via.kind,
    connections: options.via.kind === 'http' ? options.via.connections : null,
  }),
  metrics: messagingMetrics,
  estimateTrialMs: ({ until, perSecond, warmUp }) => {
    const loadMs =
      'messages' in until ? (until.messages / (perSecond ?? GUESSED_PER_SECOND)) * 1000 : until.durationMs;
    return TRIAL_OVERHEAD_MS + warmUp.capMs + loadMs;
  },
  keys: ({ patterns, keyPrefix }) =>
    patterns.flatMap(({ defaultKey }) => [keyPrefix + defaultKey, `${keyPrefix}${defaultKey}:dead`]),
  reach: reachStoreAndServices,
  trial: messagingTrial,
  remarks: httpRemarks,
  replay: replayAsPublished,
} satisfies Experiment<MessagingOptions>;
