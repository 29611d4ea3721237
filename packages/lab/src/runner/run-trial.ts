import type { Experiment, TrialContext } from '../experiments/experiment.js';
import type { Measurement } from '../measure/measurement.js';
import type { Plan, Trial, Validity } from '../measure/result.js';
import type { Check } from '../validity/check.js';

export interface TrialRequest<Options> {
  readonly experiment: Experiment<Options>;
  readonly options: Options;
  readonly plan: Plan;
  readonly checks: ReadonlyMap<string, Check>;
  readonly context: TrialContext;
  readonly round: number;
  readonly position: number;
  /** Of the variant. */
  readonly name: string;
}

/** Makes one trial and lets the checks look at it. What goes wrong becomes a failed trial, never an exception. */
export async function runTrial<Options>(request: TrialRequest<Options>): Promise<Trial> {
  const { experiment, options, plan, checks, context, round, position, name } = request;
  const variant = plan.variants.find((candidate) => candidate.name === name);
  if (variant === undefined) throw new Error(`the plan's order names a variant it does not have: ${name}`);
  const startedAt = new Date().toISOString();
  const began = performance.now();
  const head = () => ({
    id: `${round}.${position}`,
    variant: name,
    round,
    position,
    startedAt,
    durationMs: performance.now() - began,
  });
  let measurement: Measurement;
  try {
    measurement = await experiment.trial(variant.factors, options, context);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ...head(), state: 'failed', error: message, validity: [] };
  }
  const { observations: _, ...figures } = measurement;
  const validity = [...checks.values()].flatMap((check): Validity[] => {
    const finding = check.trial?.(measurement);
    return finding === undefined ? [] : [{ id: check.name, ...finding }];
  });
  const state = validity.some(({ status }) => status === 'fail') ? 'invalid' : 'measured';
  return { ...head(), state, ...figures, validity };
}
