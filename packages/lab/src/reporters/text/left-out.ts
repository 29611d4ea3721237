import type { Result, Trial } from '../../measure/result.js';
import { plural } from './figures.js';
import { type Style, wrap } from './style.js';

/** Reasons shown in full; beyond that many trials only the count is given, the JSON result has them all. */
const MOST_SHOWN = 12;

/** Trials that are not in the figures, and why. Nothing is left out in silence. */
export function leftOut(result: Result, style: Style): string[] {
  const trials = result.trials.filter((trial) => trial.state !== 'measured');
  if (trials.length === 0) return [];
  const shown = trials.slice(0, MOST_SHOWN);
  const rest = trials.length - shown.length;
  return [
    style.heading('Trials left out'),
    ...wrap(`${plural(trials.length, 'trial')} of ${result.trials.length} are not in the figures:`, {
      width: style.width,
      first: '  ',
    }),
    ...shown.flatMap((trial) => wrap(reason(trial), { width: style.width, first: '    ' })),
    ...(rest > 0 ? [`    and ${rest} more; weir report ${result.id} --format json has them all`] : []),
  ];
}

function reason(trial: Trial): string {
  const head = `${trial.id} ${trial.variant}:`;
  if (trial.state === 'failed') return `${head} could not be made: ${trial.error}`;
  const failed = trial.validity.filter((check) => check.status === 'fail');
  return `${head} ${failed.map((check) => `${check.id}: ${check.evidence}`).join('; ')}`;
}
