import { type Check, fail, pass } from './check.js';

/** A run in which a variant has nothing to show for itself cannot say anything about it. */
export const noValidTrial = {
  name: 'no-valid-trial',
  summary: 'the run is invalid when all trials of a variant failed or were left out',
  run: ({ result: { plan, trials, status } }) => {
    if (status !== 'completed') return undefined;
    const without = plan.variants.filter(
      ({ name }) => !trials.some((trial) => trial.variant === name && trial.state === 'measured'),
    );
    if (without.length === 0) return pass('every variant has trials that count');
    const reasons = new Set(
      trials
        .filter(({ variant }) => without.some(({ name }) => name === variant))
        .flatMap((trial) =>
          trial.state === 'failed'
            ? [trial.error]
            : trial.validity.filter(({ status: state }) => state === 'fail').map(({ id }) => id),
        ),
    );
    return fail(
      `no trial counts of ${without.map(({ name }) => name).join(', ')}: ${[...reasons].join('; ')}`,
      'mend what the failed checks name, and run again',
    );
  },
} satisfies Check;
