import { ExitCode } from '../core/errors.js';
import type { Result } from '../measure/result.js';
import type { Check } from '../validity/check.js';

/** How the runner words the loss of the server; any other failure of a run is not the machine's fault. */
const REDIS_IS_GONE = /^Redis at \S+ is gone/;

/**
 * What `weir run` ends with. A failed check that only takes the ranking away leaves a valid run without verdicts;
 * any other makes the run invalid.
 */
export function exitCodeOf(result: Result, checks: ReadonlyMap<string, Check>): ExitCode {
  switch (result.status) {
    case 'interrupted':
      return ExitCode.interrupted;
    case 'failed':
      return REDIS_IS_GONE.test(result.error ?? '') ? ExitCode.unavailable : ExitCode.software;
    case 'completed': {
      const failed = result.validity.filter(({ status }) => status === 'fail');
      const isInvalid = failed.some(({ id }) => checks.get(id)?.takesAway !== 'ranking');
      if (isInvalid) return ExitCode.invalidRun;
      const isBroken = result.trials.some(
        (trial) => trial.state !== 'failed' && trial.guarantee?.state === 'broken',
      );
      return isBroken ? ExitCode.regression : ExitCode.done;
    }
  }
}
