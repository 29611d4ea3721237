import type { Experiment } from '../../src/experiments/experiment.js';

/** An experiment that has options and cannot be run, for tests of what only looks at its description. */
export function experimentFixture(): Experiment {
  return {
    name: 'example',
    summary: 'compares nothing',
    question: 'Is anything faster than nothing?',
    options: [
      { flags: '--messages <count>', description: 'messages of one trial', defaultText: '100' },
      { flags: '--key-prefix <text>', description: 'put before every key' },
    ],
    parse: (raw) => raw,
    factors: () => [{ name: 'pattern', values: ['queue', 'pubsub'] }],
    workload: () => ({ messages: 100 }),
    metrics: () => [],
    estimateTrialMs: () => 1000,
    keys: () => [],
    trial: () => Promise.reject(new Error('this experiment cannot be run')),
  };
}
