/**
 * The Wilcoxon signed-rank procedures for paired differences: estimate, interval and p-value that belong together.
 * Source: Hollander, Wolfe & Chicken, *Nonparametric Statistical Methods*, 3rd ed., 2014, sections 3.1 to 3.3. Assumed is
 * that the differences are symmetric about their centre, which pairing within a randomised round brings about; no normal
 * distribution, no random resampling.
 *
 * All three rest on the Walsh averages (x_i + x_j) / 2, i <= j, because (Tukey, 1949) the signed-rank statistic for a
 * supposed centre c is the number of Walsh averages above c.
 *
 * **Ties and zeros.** A Walsh average that equals c is counted on both sides, that is, against a difference. Were the
 * data moved by an infinitely small random amount to break the ties, the statistic could only become more extreme, so
 * p-values and intervals stay valid whatever the ties, and conservative; nothing is discarded. Without ties they are
 * the exact textbook values.
 */

/** All n (n + 1) / 2 Walsh averages, ascending. */
export function walshAverages(values: readonly number[]): Float64Array {
  const averages = new Float64Array((values.length * (values.length + 1)) / 2);
  let index = 0;
  values.forEach((value, i) => {
    for (const other of values.slice(i)) averages[index++] = (value + other) / 2;
  });
  return averages.sort();
}

/** The procedures for one sample of differences, which share its Walsh averages. */
export class SignedRank {
  readonly #n: number;
  readonly #averages: Float64Array;
  readonly #cumulative: Float64Array;

  constructor(differences: readonly number[]) {
    this.#n = differences.length;
    this.#averages = walshAverages(differences);
    this.#cumulative = signedRankCumulative(differences.length);
  }

  /** Number of differences. */
  get n(): number {
    return this.#n;
  }

  /**
   * The Hodges-Lehmann estimate of the centre: the median of the Walsh averages. 29 % of the values may be arbitrarily
   * wrong before it follows them; for normal data it is 95 % as efficient as the mean. NaN without values.
   * Source: Hodges & Lehmann, *Estimates of location based on rank tests*, Ann. Math. Statist. 34, 1963.
   */
  get estimate(): number {
    const middle = (this.#averages.length - 1) / 2;
    const below = this.#averages[Math.floor(middle)] ?? Number.NaN;
    const above = this.#averages[Math.ceil(middle)] ?? Number.NaN;
    return (below + above) / 2;
  }

  /**
   * Confidence interval of the centre, by inverting the exact test: the k-th smallest and k-th largest Walsh average,
   * with the largest k for which P(T <= k - 1) <= alpha / 2. Its level is 1 - alpha or a little more, never less.
   *
   * @param alpha 0.05 for a 95 % interval
   * @returns null when there are too few values for any interval: below 6 at 95 %, see {@link fewestPairs}
   */
  interval(alpha: number): [number, number] | null {
    const k = this.#cumulative.findIndex((probability) => probability > alpha / 2);
    const low = this.#averages[k - 1];
    const high = this.#averages[this.#averages.length - k];
    return low === undefined || high === undefined ? null : [low, high];
  }

  /**
   * Two-sided p-value that belongs to {@link interval}: at most `alpha` exactly when that interval lies outside
   * [-margin, margin]. With margin 0 it is the exact Wilcoxon signed-rank test of "the centre is 0".
   *
   * @param margin half-width of the region that does not count as a difference, 0 or more
   * @returns 1 without values
   */
  pValue(margin = 0): number {
    let notAbove = 0;
    let notBelow = 0;
    for (const average of this.#averages) {
      if (average <= margin) notAbove++;
      if (average >= -margin) notBelow++;
    }
    return Math.min(1, 2 * (this.#cumulative[Math.min(notAbove, notBelow)] ?? 1));
  }
}

const cumulatives = new Map<number, Float64Array>();

/**
 * The exact null distribution of the signed-rank statistic: element t is P(T <= t), t = 0 .. n (n + 1) / 2.
 *
 * Rank i joins the sum or not with probability 1/2 each, so the distribution for n ranks follows from that for n - 1:
 * p_n(t) = (p_{n-1}(t) + p_{n-1}(t - n)) / 2. Halves are exact in binary and all terms positive, so every value is right
 * to 14 digits at any n used here.
 */
export function signedRankCumulative(n: number): Float64Array {
  const known = cumulatives.get(n);
  if (known !== undefined) return known;
  const probabilities = new Float64Array((n * (n + 1)) / 2 + 1);
  probabilities[0] = 1;
  for (let rank = 1; rank <= n; rank++) {
    for (let t = (rank * (rank + 1)) / 2; t >= 0; t--) {
      probabilities[t] = ((probabilities[t] ?? 0) + (probabilities[t - rank] ?? 0)) / 2;
    }
  }
  let sum = 0;
  const cumulative = probabilities.map((probability) => {
    sum += probability;
    return sum;
  });
  cumulatives.set(n, cumulative);
  return cumulative;
}

/** The fewest pairs for which an interval at this level exists: the smallest n with 2 / 2^n <= alpha; 6 at 0.05. */
export function fewestPairs(alpha: number): number {
  let n = 1;
  while (2 * 0.5 ** n > alpha) n++;
  return n;
}
