import { PERSISTENCE } from '../faults/fault.js';
import type { Experiment } from './experiment.js';
import { replayFaults } from './faults/as-published.js';
import { persistenceOf, pointsOf } from './faults/cases.js';
import { FAULT_METRICS } from './faults/measurement.js';
import { type FaultsOptions, OPTIONS, parseOptions } from './faults/options.js';
import { faultRemarks } from './faults/remarks.js';
import { faultTrial } from './faults/trial.js';

/** A server and three processes are started and ended, and what is missing is waited for. */
const TRIAL_OVERHEAD_MS = 1500;

/**
 * What gets lost? Every pattern under every fault, at the same message, and whether it kept the guarantee that it
 * declares.
 */
export const faults = {
  name: 'faults',
  summary: 'what gets lost: every pattern under every fault, and whether it keeps its guarantee',
  question:
    'What is lost, repeated or reordered when something fails, and does each pattern keep its guarantee?',
  options: OPTIONS,
  judgedBy: 'guarantee',
  parse: parseOptions,
  factors: ({ patterns, faults: chosen, points, persistence }) => [
    { name: 'pattern', values: patterns.map(({ name }) => name) },
    { name: 'fault', values: chosen.map(({ name }) => name) },
    {
      name: 'persistence',
      values: PERSISTENCE.filter((setting) =>
        chosen.some((fault) => persistenceOf(fault, persistence).includes(setting)),
      ),
    },
    { name: 'point', values: [...new Set(chosen.flatMap((fault) => pointsOf(fault, points)))] },
  ],
  applies: ({ pattern: patternName, fault: faultName, persistence: setting, point }, options) => {
    const pattern = options.patterns.find(({ name }) => name === patternName);
    const fault = options.faults.find(({ name }) => name === faultName);
    if (pattern === undefined || fault === undefined) return false;
    return (
      (fault.appliesTo?.(pattern) ?? true) &&
      persistenceOf(fault, options.persistence).some((own) => own === setting) &&
      pointsOf(fault, options.points).some((own) => own === point)
    );
  },
  workload: (options) => ({
    messages: options.messages,
    perSecond: options.perSecond,
    payloadBytes: options.payloadBytes,
    batch: options.batch,
    consumers: options.consumers ?? null,
    client: options.client,
    outageMs: options.outageMs,
    leaseMs: options.leaseMs,
    blockMs: options.blockMs,
    every: options.every,
    offset: options.offset,
    keyPrefix: options.keyPrefix,
  }),
  metrics: () => FAULT_METRICS,
  estimateTrialMs: ({ messages, perSecond }) => TRIAL_OVERHEAD_MS + (messages / perSecond) * 1000,
  // Each trial has keys of its own, with a random part.
  keys: () => [],
  trial: faultTrial,
  remarks: faultRemarks,
  replay: replayFaults,
} satisfies Experiment<FaultsOptions>;
