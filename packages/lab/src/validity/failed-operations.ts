import { sumLedgers } from '../measure/ledger.js';
import type { Ledger, Trial } from '../measure/result.js';
import { type Check, type Finding, fail, pass } from './check.js';

/** Error replies are answered faster, or slower, than work: a rate with many of them is the rate of something else. */
const LEAST_SUCCESS = 0.999;

/** At least 99.9 % of what was attempted must have been acknowledged, in every trial and in the run as a whole. */
export const failedOperations = {
  name: 'failed-operations',
  summary:
    'fails when fewer than 99.9 % of the operations succeeded (HTTP answers other than 2xx are failures)',
  // Where a fault is injected, failing is the point; the ledger still has to balance.
  trial: ({ ledger, observations }) => (observations.faultInjected === true ? undefined : finding(ledger)),
  run: ({ result }) =>
    result.trials.length === 0 || result.trials.some(hasGuarantee)
      ? undefined
      : finding(
          sumLedgers(result.trials.flatMap((trial) => (trial.state === 'failed' ? [] : [trial.ledger]))),
        ),
} satisfies Check;

function hasGuarantee(trial: Trial): boolean {
  return trial.state !== 'failed' && trial.guarantee !== undefined;
}

function finding({ attempted, acknowledged, failed, unknown }: Ledger): Finding {
  if (attempted === 0) {
    return fail(
      'nothing was attempted',
      'look at the errors of the trials: the load generator did not get to work',
    );
  }
  const success = acknowledged / attempted;
  const evidence =
    `${acknowledged} of ${attempted} operations succeeded (${(Math.floor(success * 1e5) / 1e3).toFixed(3)} %), ` +
    `${failed} failed, ${unknown} were never answered`;
  if (success >= LEAST_SUCCESS) return pass(evidence);
  return fail(
    evidence,
    'find out what was refused (memory limit, wrong type, timeouts, HTTP status) and run again',
  );
}
