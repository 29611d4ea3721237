import { mean, median, medianAbsoluteDeviation, probit, sampleStandardDeviation } from 'simple-statistics';
import { fewestPairs } from './wilcoxon.js';

/**
 * Statistics beside those of paired differences (`wilcoxon.ts`): of one sample, of families of comparisons, and of
 * plans.
 */

/**
 * Confidence interval of the median from order statistics: the k-th smallest and k-th largest value, with the largest k
 * for which P(B <= k - 1) <= alpha / 2, B binomial(n, 1/2). Assumes nothing but independence.
 * Source: Hahn & Meeker, *Statistical Intervals*, 1991, section 5.2; David & Nagaraja, *Order Statistics*, 7.1.
 *
 * @returns null when no such interval exists: below 6 values at 95 %
 */
export function medianInterval(values: readonly number[], alpha: number): [number, number] | null {
  const n = values.length;
  let k = 0;
  let term = 0.5 ** n;
  for (let below = term; below <= alpha / 2; below += term) {
    k++;
    term *= (n - k + 1) / k;
  }
  const sorted = [...values].sort((a, b) => a - b);
  const low = sorted[k - 1];
  const high = sorted[n - k];
  return k === 0 || low === undefined || high === undefined ? null : [low, high];
}

/** Sample standard deviation over the mean; null below two values or where the mean is 0. */
export function coefficientOfVariation(values: readonly number[]): number | null {
  if (values.length < 2 || mean([...values]) === 0) return null;
  return sampleStandardDeviation([...values]) / Math.abs(mean([...values]));
}

/**
 * Error levels for a family of comparisons by Holm's step-down procedure (Holm, *A simple sequentially rejective
 * multiple test procedure*, Scand. J. Statist. 6, 1979): the i-th smallest of m p-values is held against
 * alpha / (m - i + 1); at the first that is larger the procedure stops, and all from there on keep that level.
 *
 * An interval at 1 - the returned level then leaves the region of its p-value exactly when Holm rejects, and the chance
 * of one false rejection or more among the m is at most alpha. Give the p-values of the claim that will be made: here
 * "beyond the margin", not "other than 0", else intervals of large effects would loosen those of small ones.
 *
 * @returns the level of each comparison, in the order of `pValues`
 */
export function holmLevels(pValues: readonly number[], alpha: number): number[] {
  const levels = pValues.map(() => alpha);
  const ascending = pValues.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p);
  let stoppedAt: number | undefined;
  ascending.forEach(({ p, index }, step) => {
    const level = stoppedAt ?? alpha / (pValues.length - step);
    levels[index] = level;
    if (p > level) stoppedAt = level;
  });
  return levels;
}

/**
 * p-value of a randomisation test: how often a statistic, computed anew for labels shuffled the way the experiment
 * shuffled them, is as large as the one observed. The observed one counts as one of the draws, so p is never 0
 * (Phipson & Smyth, *Permutation p-values should never be zero*, 2010).
 *
 * @param draw computes the statistic for one shuffle
 */
export function permutationPValue(observed: number, draw: () => number, permutations: number): number {
  // The same sum in another order may differ in its last digits; that is no smaller value.
  const atLeast = observed - 1e-9 * Math.abs(observed);
  let asLarge = 1;
  for (let i = 0; i < permutations; i++) if (draw() >= atLeast) asLarge++;
  return asLarge / (permutations + 1);
}

/**
 * No smaller ratio is called a difference, whatever the user asks for: 0.03 is 3 %. Code layout and memory placement
 * alone move a program by as much (Mytkowicz et al., *Producing wrong data without doing anything obviously wrong!*,
 * ASPLOS 2009).
 */
export const SMALLEST_MARGIN = 0.03;

/** Beyond this modified z-score a value is flagged (Iglewicz & Hoaglin). */
const OUTLIER_SCORE = 3.5;
/** With fewer values "the rest" is too small to be far from. */
const FEWEST_FOR_OUTLIERS = 6;
/** Scale of the two deviations to one standard deviation of normal data: 1 / z(0.75) and sqrt(pi / 2). */
const MEDIAN_DEVIATION_SCALE = 1.4826;
const MEAN_DEVIATION_SCALE = 1.2533;

/**
 * Which values lie far from the rest: modified z-score |x - median| / (1.4826 MAD) above 3.5.
 * Source: Iglewicz & Hoaglin, *How to Detect and Handle Outliers*, ASQC Basic References 16, 1993. Where more than half
 * the values are equal the MAD is 0, and the mean absolute deviation from the median takes its place.
 */
export function outliers(values: readonly number[]): boolean[] {
  if (values.length < FEWEST_FOR_OUTLIERS) return values.map(() => false);
  const centre = median([...values]);
  const distances = values.map((value) => Math.abs(value - centre));
  const scale =
    MEDIAN_DEVIATION_SCALE * medianAbsoluteDeviation([...values]) || MEAN_DEVIATION_SCALE * mean(distances);
  return distances.map((distance) => scale > 0 && distance / scale > OUTLIER_SCORE);
}

/** For normal data the signed-rank test needs 1 / 0.955 times the rounds of the t-test (Hodges & Lehmann, 1956). */
const RANK_EFFICIENCY = 3 / Math.PI;

export interface RoundsNeeded {
  /** Of the paired log ratios, one per round. */
  readonly standardDeviation: number;
  /** Distance to be resolved, as a log ratio, above 0. */
  readonly difference: number;
  /** Two-sided error level; 0.05 for a 95 % interval. */
  readonly alpha: number;
  /** Chance to see the difference when it is there. Default 0.8. */
  readonly power?: number;
}

/**
 * Rounds it takes to resolve a difference: ((z(1 - alpha/2) + z(power)) sd / difference)^2, over the efficiency of the
 * rank test. A plan, not a promise: the standard deviation is an estimate.
 * Source: Noether, *Sample size determination for some common nonparametric tests*, JASA 82, 1987.
 */
export function roundsNeeded({ standardDeviation, difference, alpha, power = 0.8 }: RoundsNeeded): number {
  const z = normalQuantile(1 - alpha / 2) + normalQuantile(power);
  const rounds = ((z * standardDeviation) / difference) ** 2 / RANK_EFFICIENCY;
  return Math.max(fewestPairs(alpha), Math.ceil(rounds));
}

/**
 * Standard deviation of one paired difference, from the half-width of the signed-rank interval of n of them. Unlike the
 * sample standard deviation it does not follow a few disturbed rounds (Lehmann, Ann. Math. Statist. 34, 1963).
 */
export function standardDeviationFromInterval(halfWidth: number, n: number, alpha: number): number {
  return (halfWidth * Math.sqrt(n * RANK_EFFICIENCY)) / normalQuantile(1 - alpha / 2);
}

/** To three digits, enough to plan with (Winitzki's approximation of the inverse error function). */
function normalQuantile(probability: number): number {
  return probit(probability);
}
