import type { Trial } from '../measure/result.js';
import { type Check, fail, pass, warn } from './check.js';
import { missedSchedule } from './missed-schedule.js';

/**
 * A run in which a variant has nothing to show for itself cannot say anything about it. Where the generator could not
 * make the load of a variant (the upper rates of a sweep), that says nothing against the variants whose load it made:
 * they stand, and the other is named.
 */
export const noValidTrial = {
  name: 'no-valid-trial',
  summary:
    'the run is invalid when all trials of a variant failed or were left out; warns when only its load could not be made',
  run: ({ result: { plan, trials, status } }) => {
    if (status !== 'completed') return undefined;
    const of = (name: string) => trials.filter(({ variant }) => variant === name);
    const without = plan.variants
      .map(({ name }) => name)
      .filter((name) => !of(name).some(({ state }) => state === 'measured'));
    if (without.length === 0) return pass('every variant has trials that count');
    const unmade = without.filter((name) => of(name).length > 0 && of(name).every(onlyItsLoadIsMissing));
    if (unmade.length === without.length && unmade.length < plan.variants.length) {
      return warn(
        `the load of ${unmade.join(', ')} could not be made, so nothing is said of it; the others stand`,
        'use lower rates or more producers',
      );
    }
    const reasons = new Set(without.flatMap(of).flatMap(reasonsOf));
    return fail(
      `no trial counts of ${without.join(', ')}: ${[...reasons].join('; ')}`,
      'mend what the failed checks name, and run again',
    );
  },
} satisfies Check;

function onlyItsLoadIsMissing(trial: Trial): boolean {
  return trial.state === 'invalid' && reasonsOf(trial).every((reason) => reason === missedSchedule.name);
}

function reasonsOf(trial: Trial): string[] {
  return trial.state === 'failed'
    ? [trial.error]
    : trial.validity.filter(({ status }) => status === 'fail').map(({ id }) => id);
}
