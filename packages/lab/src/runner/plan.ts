import { createHash } from 'node:crypto';
import { seededRandom, shuffle } from '../core/random.js';
import type { Experiment, Factor } from '../experiments/experiment.js';
import type { Factors, Plan, Variant } from '../measure/result.js';

/** Rounds by precision (METHOD, "Trials and rounds"). `thorough` looks at 20 and again at 30. */
export const ROUNDS = { quick: 8, default: 12, thorough: 30 } as const;
/** Of an experiment that is judged by a guarantee: a promise is broken by one trial, so one is enough to show it. */
export const GUARANTEE_ROUNDS = { quick: 1, default: 1, thorough: 10 } as const;
/** Where a thorough run looks for the first time and may end. */
export const THOROUGH_FIRST_LOOK = 20;
/** Below this many rounds no 95 % interval exists. */
export const FEWEST_ROUNDS_WITH_INTERVAL = 6;

export interface PlanSettings {
  readonly rounds: number;
  readonly precision: Plan['precision'];
  readonly seed: number;
  /** Smallest ratio that counts as a difference: 0.03 is 3 %. */
  readonly margin: number;
  /** Command line that repeats the run. */
  readonly command: string;
}

/**
 * Fixes what will run and in which order: every round runs every variant once, in seeded random order, and a
 * second copy of the baseline of each group (A/A), so that the noise is measured in the same rounds as the effect
 * (randomised complete blocks; Abedi & Brecht, ICPE 2017, show what sequential order does).
 */
export function makePlan<Options>(
  experiment: Experiment<Options>,
  options: Options,
  settings: PlanSettings,
): Plan {
  const factors = experiment.factors(options);
  const applying = makeVariants(factors).filter(
    (variant) => experiment.applies?.(variant.factors, options) ?? true,
  );
  const variants =
    experiment.judgedBy === 'guarantee' ? applying.map(alone) : withCopies(applying, settings.precision);
  const random = seededRandom(settings.seed);
  const names = variants.map(({ name }) => name);
  const plan: Omit<Plan, 'sha256'> = {
    question: experiment.question,
    factors: Object.fromEntries(factors.map(({ name, values }) => [name, [...values]])),
    variants,
    workload: { ...experiment.workload(options) },
    rounds: settings.rounds,
    precision: settings.precision,
    seed: settings.seed,
    order: Array.from({ length: settings.rounds }, () => shuffle(names, random)),
    margin: settings.margin,
    command: settings.command,
  };
  return { ...plan, sha256: createHash('sha256').update(canonicalJson(plan)).digest('hex') };
}

/** Rough wall time of the whole plan in milliseconds. */
export function estimateMs(plan: Plan, perTrialMs: number): number {
  return plan.order.reduce((sum, round) => sum + round.length, 0) * perTrialMs;
}

/** The A/A copy is named after the baseline it repeats. */
export const A_A_SUFFIX = ' (A/A)';

/**
 * All combinations. The first factor with several values is the one compared; the others make the groups, each
 * with its own baseline (the first value).
 */
export function makeVariants(factors: readonly Factor[]): Variant[] {
  const comparedFactor = factors.find(({ values }) => values.length > 1) ?? factors[0];
  const combinations = factors.reduce<Factors[]>(
    (partial, { name, values }) =>
      values.flatMap((value) => partial.map((combination) => ({ ...combination, [name]: value }))),
    [{}],
  );
  return combinations.flatMap((combination): Variant[] => {
    const group = describe(
      combination,
      factors.filter((factor) => factor !== comparedFactor && factor.values.length > 1),
    );
    const [first, ...others] = factors;
    const rest = describe(
      combination,
      others.filter(({ values }) => values.length > 1),
    );
    const name = [first === undefined ? '' : String(combination[first.name]), rest].filter(Boolean).join(' ');
    const isBaseline =
      comparedFactor === undefined || combination[comparedFactor.name] === comparedFactor.values[0];
    return [{ name, factors: combination, group, role: isBaseline ? 'baseline' : 'candidate' }];
  });
}

/**
 * Puts the A/A copies beside their baselines: one in each group, because noise at batch 1 says little about noise at
 * batch 100. A quick run has time for one only. It is in the last group: factors are listed upwards, so its trials are
 * the shortest and the noisiest, and its margin is the safe one for the others.
 */
function withCopies(variants: readonly Variant[], precision: Plan['precision']): Variant[] {
  const lastBaseline = variants.findLast(({ role }) => role === 'baseline');
  return variants.flatMap((variant): Variant[] => {
    const isCopied = variant.role === 'baseline' && (precision !== 'quick' || variant === lastBaseline);
    return isCopied ? [variant, { ...variant, name: variant.name + A_A_SUFFIX, role: 'a-a' }] : [variant];
  });
}

/** Held against its own promise, not against another variant. */
function alone(variant: Variant): Variant {
  return { ...variant, group: '', role: 'candidate' };
}

/** `batch=100 client=ioredis` */
function describe(combination: Factors, factors: readonly Factor[]): string {
  return factors.map(({ name }) => `${name}=${combination[name]}`).join(' ');
}

/** JSON with sorted keys, so that equal plans have equal hashes. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
