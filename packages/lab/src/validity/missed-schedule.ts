import { formatNanoseconds } from '../core/units.js';
import { type Check, fail, pass, warn } from './check.js';

const WARN_ABOVE = 0.01;
/** Beyond this share the load that was made is no longer the load that was asked for. */
const FAIL_ABOVE = 0.1;

/**
 * Open load: were the messages sent when they were due? Latency is taken from the intended time, so lateness of the
 * generator is in it; up to 1 % of the sends it stays out of p99.
 */
export const missedSchedule = {
  name: 'missed-schedule',
  summary: 'warns when more than 1 % of the open-loop sends were late, fails above 10 %',
  trial: ({ observations: { schedule } }) => {
    if (schedule === undefined || schedule.sends === 0) return undefined;
    const { sends, late, allowanceNs, worstNs } = schedule;
    const share = late / sends;
    const evidence =
      `${late} of ${sends} sends (${(share * 100).toFixed(2)} %) were more than ${formatNanoseconds(allowanceNs)} late, ` +
      `the worst ${formatNanoseconds(worstNs)}`;
    const remedy =
      'lower --rate, use more producers, or stop other work on this machine: latency includes this lateness';
    if (share > FAIL_ABOVE) return fail(evidence, remedy);
    return share > WARN_ABOVE ? warn(evidence, remedy) : pass(evidence);
  },
} satisfies Check;
