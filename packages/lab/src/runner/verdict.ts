import type { Counted } from '../experiments/experiment.js';
import type { MetricDefinition } from '../measure/measurement.js';
import type { Comparison, Interval, NoiseFloor, Plan, Trial, Variant, Verdict } from '../measure/result.js';
import {
  holmLevels,
  roundsNeeded,
  SMALLEST_MARGIN,
  standardDeviationFromInterval,
} from '../measure/statistics.js';
import { fewestPairs, SignedRank } from '../measure/wilcoxon.js';
import { type Pairs, pairUp } from './pairs.js';
import { verdictSentence } from './verdict-sentence.js';

/** Of a family of comparisons: the chance of one false "faster" or "slower" or more. */
export const ALPHA = 0.05;
/** Two one-sided tests at 5 % each: a tie is claimed when the 90 % interval lies inside the margin. */
const TIE_ALPHA = 0.1;
/**
 * A thorough run looks twice, at 20 rounds and at 30. Looking at 5 % each time would be wrong in 8 of 100 runs, so each
 * look is made at Pocock's level for two (0.0294 for 5 %; *Group sequential methods*, Biometrika 64, 1977): the interval
 * then covers at 95 % over both looks together (Jennison & Turnbull's repeated confidence interval).
 */
const TWO_LOOKS = 0.0294 / 0.05;
/** However loud the noise, variants that may be further apart than this are not called equal: they are undecided. */
const WIDEST_TIE = 0.1;
/** With a larger share of the trials left out, what is left is no fair sample. */
const MOST_LEFT_OUT = 0.2;

export interface JudgedRun {
  readonly plan: Plan;
  readonly trials: readonly Trial[];
  readonly metrics: readonly MetricDefinition[];
  /** Default: messages. */
  readonly counted?: Counted | undefined;
  /** Why the ranking is taken away, in words; absent when it is not. */
  readonly rankingRefused?: string | undefined;
}

export interface Verdicts {
  readonly comparisons: Comparison[];
  readonly noiseFloor: NoiseFloor[];
}

/**
 * Compares, in every group and compared metric, each candidate with the baseline (METHOD, 5 to 7):
 *
 * 1. per round ln(candidate / baseline); the Hodges-Lehmann estimate and the exact signed-rank interval of these;
 * 2. the margin: the largest of the user's, 3 %, and the half-width of the interval between the two identical copies of
 *    the baseline (A/A). It is a ratio: 3 % means 1.03 times one way and 1.03 times the other;
 * 3. levels by Holm over the candidates of the group, on the p-values of the claim "beyond the margin";
 * 4. the verdict, in this order: *faster* or *slower* (interval beyond the margin), *tie* (90 % interval inside it,
 *    and inside 10 % however loud the noise),
 *    *small* (interval excludes equality), else *inconclusive*. Or *none*, with the reason.
 *
 * Metrics that are neither better high nor better low have no faster and no slower, and are not compared.
 */
export function compareVariants(run: JudgedRun): Verdicts {
  const verdicts: Verdicts = { comparisons: [], noiseFloor: [] };
  for (const group of new Set(run.plan.variants.map((variant) => variant.group))) {
    const variants = run.plan.variants.filter((variant) => variant.group === group);
    const baseline = variants.find(({ role }) => role === 'baseline');
    if (baseline === undefined) continue;
    for (const metric of run.metrics.filter(({ compared, better }) => compared && better !== 'neither')) {
      const noise = noiseOf(run, metric, baseline.group);
      if (noise.state === 'measured' && noise.floor.group === baseline.group) {
        verdicts.noiseFloor.push(noise.floor);
      }
      const candidates = variants.filter(({ role }) => role === 'candidate');
      verdicts.comparisons.push(...compareAll(run, metric, baseline, candidates, noise));
    }
  }
  return verdicts;
}

type Noise =
  | { readonly state: 'not-planned' }
  | { readonly state: 'not-measured' }
  | { readonly state: 'measured'; readonly floor: NoiseFloor };

/** Of the group, or of the one group that has a copy: a quick run has a single one. */
function noiseOf({ plan, trials }: JudgedRun, metric: MetricDefinition, group: string): Noise {
  const copies = plan.variants.filter(({ role }) => role === 'a-a');
  const copy = copies.find((candidate) => candidate.group === group) ?? copies[0];
  const baseline = plan.variants.find(
    (variant) => variant.role === 'baseline' && variant.group === copy?.group,
  );
  if (copy === undefined || baseline === undefined) return { state: 'not-planned' };
  const { logRatios } = pairUp(trials, metric.name, baseline.name, copy.name);
  if (logRatios.length === 0) return { state: 'not-measured' };
  const identical = new SignedRank(logRatios);
  const interval = identical.interval(ALPHA);
  const floor: NoiseFloor = {
    group: baseline.group,
    metric: metric.name,
    ratio: Math.exp(identical.estimate),
    ci95: interval && asRatios(interval),
    halfWidth: interval && Math.expm1((interval[1] - interval[0]) / 2),
  };
  return { state: 'measured', floor };
}

function compareAll(
  run: JudgedRun,
  metric: MetricDefinition,
  baseline: Variant,
  candidates: readonly Variant[],
  noise: Noise,
): Comparison[] {
  const { plan, trials } = run;
  const askedMargin = Math.max(plan.margin, SMALLEST_MARGIN);
  const margin = Math.max(askedMargin, noise.state === 'measured' ? (noise.floor.halfWidth ?? 0) : 0);
  const tieMargin = Math.min(margin, Math.max(askedMargin, WIDEST_TIE));
  const looks = plan.precision === 'thorough' ? TWO_LOOKS : 1;
  const paired = candidates.map((candidate) => {
    const pairs = pairUp(trials, metric.name, baseline.name, candidate.name);
    return { candidate, pairs, differences: new SignedRank(pairs.logRatios) };
  });
  const levels = holmLevels(
    paired.map(({ differences }) => differences.pValue(Math.log1p(margin))),
    ALPHA * looks,
  );
  return paired.map(({ candidate, pairs, differences }, index) => {
    const alpha = levels[index] ?? 0;
    const evidence: Evidence = {
      differences,
      alpha,
      interval: differences.interval(alpha),
      tieInterval: differences.interval(TIE_ALPHA * looks),
      margin: Math.log1p(margin),
      tieMargin: Math.log1p(tieMargin),
      askedMargin: Math.log1p(askedMargin),
    };
    const refusal = run.rankingRefused ?? reasonForNone(pairs, noise, alpha);
    const verdict = refusal === undefined ? verdictOf(evidence, metric.better) : 'none';
    const comparison = {
      metric: metric.name,
      group: baseline.group,
      baseline: baseline.name,
      candidate: candidate.name,
      ratio: differences.n === 0 ? null : Math.exp(differences.estimate),
      ci95: evidence.interval && asRatios(evidence.interval),
      pairs: differences.n,
      margin,
      pValue: differences.n === 0 ? null : differences.pValue(),
      roundsNeeded: verdict === 'inconclusive' ? roundsToTell(evidence) : null,
      verdict,
    };
    const tieInterval = evidence.tieInterval && asRatios(evidence.tieInterval);
    const subject = { plan, metric, baseline, candidate };
    return {
      ...comparison,
      sentence: verdictSentence(subject, comparison, { tieInterval, tieMargin, refusal }),
    };
  });
}

/** All in logarithms of ratios. */
interface Evidence {
  readonly differences: SignedRank;
  /** Error level of `interval`, by Holm. */
  readonly alpha: number;
  readonly interval: Interval | null;
  readonly tieInterval: Interval | null;
  readonly margin: number;
  readonly tieMargin: number;
  readonly askedMargin: number;
}

function verdictOf(
  { interval, tieInterval, margin, tieMargin }: Evidence,
  better: MetricDefinition['better'],
): Verdict {
  if (interval === null) return 'none';
  const [low, high] = interval;
  if (low > margin) return better === 'lower' ? 'slower' : 'faster';
  if (high < -margin) return better === 'lower' ? 'faster' : 'slower';
  if (tieInterval !== null && tieInterval[0] > -tieMargin && tieInterval[1] < tieMargin) return 'tie';
  if (low > 0 || high < 0) return 'small';
  return 'inconclusive';
}

function reasonForNone(
  { logRatios, trials, leftOut }: Pairs,
  noise: Noise,
  alpha: number,
): string | undefined {
  if (trials > 0 && leftOut === trials) return `none of the ${trials} trials gave a figure that counts`;
  if (leftOut > MOST_LEFT_OUT * trials) return `${leftOut} of ${trials} trials were left out, more than 20 %`;
  const fewest = fewestPairs(ALPHA);
  if (logRatios.length < fewest) {
    return `no 95 % interval exists below ${fewest} rounds, and ${logRatios.length} were measured`;
  }
  const needed = fewestPairs(alpha);
  if (logRatios.length < needed) {
    return `with this many comparisons no 95 % interval exists below ${needed} rounds, and ${logRatios.length} were measured`;
  }
  const noiseKnown =
    noise.state === 'not-planned' || (noise.state === 'measured' && noise.floor.halfWidth !== null);
  return noiseKnown
    ? undefined
    : 'the noise floor is unknown: too few trials of the second copy of the baseline count';
}

/**
 * Rounds after which one of the verdicts would hold, if the estimate is right: the interval would then be narrow enough
 * to exclude equality, or to lie inside the margin asked for, whichever is easier. More rounds narrow the A/A interval
 * too, so its half-width does not enter.
 */
function roundsToTell({ differences, interval, alpha, askedMargin }: Evidence): number | null {
  if (interval === null) return null;
  const distance = Math.abs(differences.estimate);
  const standardDeviation = standardDeviationFromInterval(
    (interval[1] - interval[0]) / 2,
    differences.n,
    alpha,
  );
  const rounds: number[] = [];
  if (distance > 0) rounds.push(roundsNeeded({ standardDeviation, difference: distance, alpha }));
  if (distance < askedMargin) {
    const difference = askedMargin - distance;
    rounds.push(roundsNeeded({ standardDeviation, difference, alpha: TIE_ALPHA }));
  }
  return Math.max(differences.n + 1, Math.min(...rounds));
}

function asRatios([low, high]: Interval): Interval {
  return [Math.exp(low), Math.exp(high)];
}
