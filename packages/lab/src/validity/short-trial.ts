import { significant } from '../core/units.js';
import { samplesNeeded } from '../measure/histogram.js';
import { type Check, pass, warn } from './check.js';

/** A pause of 10 ms (a major garbage collection, a scheduler slice) moves a half-second window by 2 %. */
const FEWEST_SECONDS = 0.5;

/** Too short for the percentile it reports, or for the mechanism to show itself. */
export const shortTrial = {
  name: 'short-trial',
  summary: 'warns when a trial has too few samples for its percentiles or is too short for its mechanism',
  trial: ({ observations: { measuredSeconds, secondsNeeded, latencySamples, reportedPercentile } }) => {
    if (measuredSeconds === undefined && latencySamples === undefined) return undefined;
    const seen: string[] = [];
    const missing: string[] = [];
    if (measuredSeconds !== undefined) {
      const needed = secondsNeeded ?? FEWEST_SECONDS;
      seen.push(`${significant(measuredSeconds)} s measured`);
      if (measuredSeconds < needed) missing.push(`${significant(needed)} s are needed`);
    }
    if (latencySamples !== undefined && reportedPercentile !== undefined) {
      const needed = samplesNeeded(reportedPercentile);
      seen.push(`${latencySamples} latency samples`);
      if (latencySamples < needed) {
        missing.push(
          `p${significant(reportedPercentile * 100).replace(/\.?0+$/, '')} needs ${needed} samples`,
        );
      }
    }
    if (missing.length === 0) return pass(seen.join(', '));
    return warn(`${seen.join(', ')}: ${missing.join(', ')}`, 'use a larger count or a longer --duration');
  },
} satisfies Check;
