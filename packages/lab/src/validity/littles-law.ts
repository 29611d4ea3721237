import { formatNanoseconds, NANOSECONDS_PER_SECOND, significant } from '../core/units.js';
import { type Check, pass, warn } from './check.js';

const MOST_DIFFERENCE = 0.1;

/**
 * Work in flight = throughput x mean latency, for any system in a steady state (Little, *A proof for the queuing
 * formula L = lambda W*, Operations Research 9, 1961). Where it does not hold, one of the three was not measured where
 * it was thought to be.
 */
export const littlesLaw = {
  name: 'littles-law',
  summary: 'closed loop: warns when in-flight and throughput times latency differ by more than 10 %',
  trial: ({ observations: { closedLoop } }) => {
    if (closedLoop === undefined) return undefined;
    const { inFlight, perSecond, meanLatencyNs } = closedLoop;
    const expected = (perSecond * meanLatencyNs) / NANOSECONDS_PER_SECOND;
    const evidence =
      `${significant(inFlight)} in flight; ${significant(perSecond)} per second x ` +
      `${formatNanoseconds(meanLatencyNs)} mean latency is ${significant(expected)}`;
    if (Math.abs(expected - inFlight) <= MOST_DIFFERENCE * inFlight) return pass(evidence);
    return warn(
      evidence,
      expected < inFlight
        ? 'the window was not kept full: the generator was slower than the loop, or latency leaves out a wait'
        : 'latency includes a wait that the window does not count',
    );
  },
} satisfies Check;
