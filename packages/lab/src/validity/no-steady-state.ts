import { significant } from '../core/units.js';
import { type Check, pass, warn } from './check.js';

const MOST_DIFFERENCE = 0.02;

/** A rate that still changes is not the rate of the system: it is a point on its way. */
export const noSteadyState = {
  name: 'no-steady-state',
  summary: 'warns when the warm-up did not settle or the halves of the window differ by more than 2 %',
  trial: ({ observations: { warmUp, halves } }) => {
    if (warmUp === undefined && halves === undefined) return undefined;
    const seen: string[] = [];
    let steady = true;
    if (warmUp !== undefined) {
      seen.push(
        `the warm-up of ${significant(warmUp.seconds)} s ${warmUp.settled ? 'settled' : 'did not settle'} ` +
          `(last windows vary by ${significant(warmUp.variation * 100)} %)`,
      );
      steady &&= warmUp.settled;
    }
    if (halves !== undefined) {
      const [first, second] = halves;
      const difference = Math.abs(second - first) / Math.max(first, second, Number.MIN_VALUE);
      seen.push(
        `${significant(first)} per second in the first half of the window, ${significant(second)} in the second ` +
          `(${significant(difference * 100)} % apart)`,
      );
      steady &&= difference <= MOST_DIFFERENCE;
    }
    const evidence = seen.join('; ');
    if (steady) return pass(evidence);
    return warn(
      evidence,
      'measure longer (a larger count or a longer --duration), so that start and drift weigh less',
    );
  },
} satisfies Check;
