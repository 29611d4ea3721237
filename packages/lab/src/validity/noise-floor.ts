import { significant } from '../core/units.js';
import type { NoiseFloor } from '../measure/result.js';
import { SMALLEST_MARGIN } from '../measure/statistics.js';
import { type Check, fail, pass, warn } from './check.js';

const WIDEST = 0.1;

/**
 * What identical copies of the baseline say of the measurement. A wide interval only makes the margin wide, so that
 * small differences are not called; that is a warning. Identical copies that are *told apart* mean that something other
 * than the variants makes the difference; then no ranking can be believed.
 */
export const noiseFloor = {
  name: 'noise-floor',
  summary:
    'warns when identical variants differ by up to more than 10 %; takes the ranking away when they are told apart',
  takesAway: 'ranking',
  run: ({ result }) => {
    const floors = result.summary.noiseFloor;
    if (floors.length === 0) return undefined;
    const margin = Math.max(result.plan.margin, SMALLEST_MARGIN);
    const apart = floors.filter(
      ({ ci95 }) => ci95 !== null && (ci95[0] > 1 + margin || ci95[1] < 1 / (1 + margin)),
    );
    if (apart.length > 0) {
      return fail(
        `two identical copies of the baseline differ: ${apart.map(described).join('; ')}`,
        'something besides the variants makes the difference: stop other work on this machine and run again',
      );
    }
    const evidence = `between identical variants: ${floors.map(described).join('; ')}`;
    const wide = floors.filter(({ ci95 }) => ci95 === null || ci95[1] / ci95[0] - 1 > WIDEST);
    if (wide.length === 0) return pass(evidence);
    return warn(
      evidence,
      'use more rounds or longer trials, and stop other work: smaller differences cannot be told here',
    );
  },
} satisfies Check;

function described({ group, metric, ratio, ci95 }: NoiseFloor): string {
  const subject = [metric, group].filter((part) => part !== '').join(' at ');
  const interval =
    ci95 === null ? 'no 95 % interval' : `95 % interval ${significant(ci95[0])} to ${significant(ci95[1])}`;
  return `${subject} ratio ${significant(ratio)} (${interval})`;
}
