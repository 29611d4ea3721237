import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/core/random.js';
import {
  fewestPairs,
  SignedRank,
  signedRankCumulative,
  walshAverages,
} from '../../../src/measure/wilcoxon.js';

/**
 * Hamilton depression scale factor of nine patients, second minus first visit. Hollander & Wolfe, *Nonparametric
 * Statistical Methods*, example 3.1 (data of Salsburg, 1970). Also the example of R's `wilcox.test`: V = 5 (40 the other
 * way), p = 0.03906 two-sided, pseudomedian -0.46, 95 % interval -0.786 to -0.010.
 */
const DEPRESSION = [-0.952, 0.147, -1.022, -0.43, -0.62, -0.59, -0.49, 0.08, -0.01];

describe('the null distribution', () => {
  it('has the published critical values', () => {
    // Largest T with P(T <= T0) <= alpha / 2; two-sided alpha 0.10, 0.05, 0.01.
    // Wilcoxon & Wilcox, *Some Rapid Approximate Statistical Procedures*, 1964, table 2; Zar, table B.12.
    const table: Record<number, readonly [number, number, number]> = {
      8: [5, 3, 0],
      9: [8, 5, 1],
      10: [10, 8, 3],
      11: [13, 10, 5],
      12: [17, 13, 7],
      13: [21, 17, 9],
      14: [25, 21, 12],
      15: [30, 25, 15],
      16: [35, 29, 19],
      17: [41, 34, 23],
      18: [47, 40, 27],
      19: [53, 46, 32],
      20: [60, 52, 37],
      25: [100, 89, 68],
      30: [151, 137, 109],
    };
    for (const [n, expected] of Object.entries(table)) {
      const cumulative = signedRankCumulative(Number(n));
      const critical = [0.1, 0.05, 0.01].map((alpha) => cumulative.findIndex((p) => p > alpha / 2) - 1);
      expect(critical, `n = ${n}`).toEqual(expected);
    }
  });

  it('counts subsets exactly: every one of the 2^n signs for n = 10', () => {
    const n = 10;
    const exact = new Float64Array(56);
    for (let signs = 0; signs < 2 ** n; signs++) {
      let sum = 0;
      for (let rank = 1; rank <= n; rank++) if (signs & (1 << (rank - 1))) sum += rank;
      for (let t = sum; t < exact.length; t++) exact[t] = (exact[t] ?? 0) + 2 ** -n;
    }
    expect([...signedRankCumulative(n)]).toEqual([...exact]);
  });

  it('is symmetric and ends at 1 for n = 60', () => {
    const cumulative = signedRankCumulative(60);
    expect(cumulative.length).toBe(1831);
    expect(cumulative[1830]).toBeCloseTo(1, 12);
    expect((cumulative[700] ?? 0) + (cumulative[1830 - 701] ?? 0)).toBeCloseTo(1, 12);
    // Normal approximation with mean 915 and standard deviation sqrt(60 * 61 * 121 / 24) = 135.84: P(T <= 648) = 0.0249
    expect(cumulative[648]).toBeCloseTo(0.0249, 3);
  });
});

describe('Hodges-Lehmann', () => {
  it('is the published estimate', () => {
    expect(new SignedRank(DEPRESSION).estimate).toBeCloseTo(-0.46, 10);
  });

  it('is the median of the Walsh averages', () => {
    expect([...walshAverages([1, 2, 4])]).toEqual([1, 1.5, 2, 2.5, 3, 4]);
    expect(new SignedRank([1, 2, 4]).estimate).toBe(2.25);
    expect(new SignedRank([]).estimate).toBeNaN();
  });

  it('hardly follows one wild value', () => {
    expect(new SignedRank([1, 1.1, 0.9, 1.05, 0.95, 1, 1.02, 0.98, 1e6]).estimate).toBeLessThan(1.1);
  });
});

describe('the interval', () => {
  it('is the published one', () => {
    const [low, high] = new SignedRank(DEPRESSION).interval(0.05) ?? [];
    expect(low).toBeCloseTo(-0.786, 10);
    expect(high).toBeCloseTo(-0.01, 10);
  });

  it('does not exist below 6 pairs and is the full range at 6', () => {
    expect(new SignedRank([]).interval(0.05)).toBeNull();
    expect(new SignedRank([1, 2, 3, 4, 5]).interval(0.05)).toBeNull();
    expect(new SignedRank([3, 1, 2, 6, 5, 4]).interval(0.05)).toEqual([1, 6]);
    expect([0.1, 0.05, 0.05 / 3, 0.01].map(fewestPairs)).toEqual([5, 6, 7, 8]);
  });

  it('covers the centre at least as often as it says, also with skew-free heavy tails', () => {
    const random = seededRandom(11);
    const misses = { 8: 0, 12: 0, 20: 0 };
    const runs = 4000;
    for (const n of [8, 12, 20] as const) {
      for (let run = 0; run < runs; run++) {
        const cauchy = Array.from({ length: n }, () => Math.tan(Math.PI * (random() - 0.5)));
        const [low, high] = new SignedRank(cauchy).interval(0.05) ?? [0, 0];
        if (low > 0 || high < 0) misses[n]++;
      }
      // exact level is below 5 %; three standard errors of 4000 runs are 1 %
      expect(misses[n] / runs).toBeLessThan(0.06);
      expect(misses[n] / runs).toBeGreaterThan(0.025);
    }
  });
});

describe('the p-value', () => {
  it('is the published one', () => {
    expect(new SignedRank(DEPRESSION).pValue()).toBe(0.0390625);
  });

  it('is the smallest there is when all differences have one sign', () => {
    expect(new SignedRank([1, 2, 3, 4, 5, 6, 7, 8]).pValue()).toBe(2 / 256);
    expect(new SignedRank([]).pValue()).toBe(1);
  });

  it('counts zeros and ties against a difference', () => {
    expect(new SignedRank([0, 0, 0, 0, 0, 0, 0]).pValue()).toBe(1);
    // five of seven positive, two zero: the Walsh averages at zero (3 of 28) count for both sides
    expect(new SignedRank([0, 0, 1, 2, 3, 4, 5]).pValue()).toBe(2 * (signedRankCumulative(7)[3] ?? 0));
    // ties in |d| that lie on one side change nothing
    expect(new SignedRank([1, 1, 1, 1, 1, 1, 1, 1]).pValue()).toBe(2 / 256);
  });

  it('agrees with the interval, at any level, with and without ties and margin', () => {
    const random = seededRandom(23);
    for (let run = 0; run < 2000; run++) {
      const rounded = run % 2 === 0 ? 10 : 1e9;
      const values = Array.from({ length: 6 + Math.floor(random() * 10) }, () => {
        return Math.round((random() - 0.3) * rounded) / rounded;
      });
      const margin = run % 3 === 0 ? 0 : 0.1;
      const alpha = [0.1, 0.05, 0.02][run % 3] ?? 0.05;
      const interval = new SignedRank(values).interval(alpha);
      const outside = interval !== null && (interval[0] > margin || interval[1] < -margin);
      expect(new SignedRank(values).pValue(margin) <= alpha).toBe(outside);
    }
  });
});
