import type { Experiment } from './experiment.js';
import { replayPipelining } from './pipelining/as-published.js';
import { pipeliningMetrics } from './pipelining/measurement.js';
import { OPTIONS, type PipeliningOptions, parseOptions } from './pipelining/options.js';
import { pipeliningRemarks } from './pipelining/remarks.js';
import { keysOf } from './pipelining/state.js';
import { pipeliningTrial } from './pipelining/trial.js';

/** A process is started and ended, and keys are removed. */
const TRIAL_OVERHEAD_MS = 600;

/**
 * How many commands should wait for an answer together? The same operations on the same keys, sent one by one and in
 * every way a client has to send several at once, at several depths and over several round trip times.
 */
export const pipelining = {
  name: 'pipelining',
  counted: { one: 'operation', many: 'operations', fate: 'took effect' },
  summary:
    'compares ways to send many commands: how much each gains, from which depth on no more, at what round trip',
  question:
    'How much faster are commands that do not wait for each other, and from which depth on is no more gained?',
  options: OPTIONS,
  parse: parseOptions,
  factors: ({ methods, depths, clients, roundTripsMs }) => [
    { name: 'method', values: methods },
    { name: 'depth', values: depths },
    { name: 'client', values: clients },
    { name: 'rtt', values: roundTripsMs ?? [0] },
  ],
  workload: ({ command, operations, valueBytes, keyPrefix, roundTripsMs, time }) => ({
    command,
    operations,
    valueBytes,
    keyPrefix,
    through:
      roundTripsMs === undefined ? 'straight to Redis' : 'a proxy that adds the round trip (rtt, in ms)',
    leastSeconds: time.leastMs / 1000,
    mostSeconds: time.mostMs / 1000,
    warmUpSeconds: time.warmUpMs / 1000,
  }),
  metrics: pipeliningMetrics,
  estimateTrialMs: ({ time }) => TRIAL_OVERHEAD_MS + time.warmUpMs + time.leastMs,
  keys: keysOf,
  trial: pipeliningTrial,
  remarks: pipeliningRemarks,
  replay: replayPipelining,
} satisfies Experiment<PipeliningOptions>;
