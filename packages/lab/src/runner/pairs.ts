import type { CompletedTrial, Trial } from '../measure/result.js';

/** Two variants side by side, round by round, in one metric. */
export interface Pairs {
  /** ln(candidate / baseline) of every round in which both were measured. */
  readonly logRatios: readonly number[];
  /** Trials of the two that were made. */
  readonly trials: number;
  /** Of these, those that failed, were invalid, or gave no positive figure. */
  readonly leftOut: number;
}

/**
 * Pairs the trials of two variants by round: what disturbs a whole round then cancels out. Ratios, because a machine
 * that is twice as fast is so for both; logarithms, because half and double lie equally far from equal.
 */
export function pairUp(trials: readonly Trial[], metric: string, baseline: string, candidate: string): Pairs {
  const baselines = figuresByRound(trials, metric, baseline);
  const candidates = figuresByRound(trials, metric, candidate);
  const logRatios = [...candidates.usable].flatMap(([round, figure]) => {
    const reference = baselines.usable.get(round);
    return reference === undefined ? [] : [Math.log(figure / reference)];
  });
  const made = baselines.made + candidates.made;
  return { logRatios, trials: made, leftOut: made - baselines.usable.size - candidates.usable.size };
}

/** A ratio needs figures above zero; a throughput of 0 is a trial that went wrong and is left out as such. */
function figuresByRound(
  trials: readonly Trial[],
  metric: string,
  variant: string,
): { readonly made: number; readonly usable: ReadonlyMap<number, number> } {
  const own = trials.filter((trial) => trial.variant === variant);
  const usable = new Map<number, number>();
  for (const trial of own.filter(isMeasured)) {
    const value = trial.metrics[metric]?.value;
    if (value !== undefined && value > 0 && Number.isFinite(value)) usable.set(trial.round, value);
  }
  return { made: own.length, usable };
}

export type MeasuredTrial = Extract<CompletedTrial, { state: 'measured' }>;

/** Only these enter figures and comparisons. */
export function isMeasured(trial: Trial): trial is MeasuredTrial {
  return trial.state === 'measured';
}
