import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/core/random.js';
import {
  coefficientOfVariation,
  holmLevels,
  medianInterval,
  outliers,
  permutationPValue,
  roundsNeeded,
  standardDeviationFromInterval,
} from '../../../src/measure/statistics.js';

describe('the interval of the median', () => {
  it('uses the published order statistics at 95 %', () => {
    // k of the k-th smallest and largest value: sign-test table of Dixon & Mood, JASA 41, 1946, two-sided 5 %, plus 1
    const table = {
      6: 1,
      7: 1,
      8: 1,
      9: 2,
      10: 2,
      11: 2,
      12: 3,
      15: 4,
      17: 5,
      20: 6,
      25: 8,
      30: 10,
      40: 14,
      50: 18,
    };
    for (const [n, k] of Object.entries(table)) {
      const values = Array.from({ length: Number(n) }, (_, index) => Number(n) - index);
      expect(medianInterval(values, 0.05), `n = ${n}`).toEqual([k, Number(n) + 1 - k]);
    }
  });

  it('does not exist below 6 values', () => {
    expect(medianInterval([], 0.05)).toBeNull();
    expect(medianInterval([1, 2, 3, 4, 5], 0.05)).toBeNull();
  });
});

describe('coefficient of variation', () => {
  it('is the sample standard deviation over the mean', () => {
    expect(coefficientOfVariation([9, 10, 11])).toBeCloseTo(0.1, 12);
    expect(coefficientOfVariation([5])).toBeNull();
    expect(coefficientOfVariation([1, -1])).toBeNull();
  });
});

describe('Holm', () => {
  it('steps down while it rejects', () => {
    expect(holmLevels([0.01, 0.001, 0.04], 0.05)).toEqual([0.05 / 2, 0.05 / 3, 0.05]);
  });

  it('keeps the level where it stopped', () => {
    // 0.03 > 0.025 stops; 0.04 would pass at 0.05 but is not tested any more
    expect(holmLevels([0.03, 0.001, 0.04], 0.05)).toEqual([0.05 / 2, 0.05 / 3, 0.05 / 2]);
    expect(holmLevels([0.9, 0.8, 0.7], 0.05)).toEqual([0.05 / 3, 0.05 / 3, 0.05 / 3]);
  });

  it('of one comparison changes nothing', () => {
    expect(holmLevels([0.2], 0.05)).toEqual([0.05]);
    expect(holmLevels([], 0.05)).toEqual([]);
  });
});

describe('the permutation p-value', () => {
  it('is the share of shuffles as extreme, the observed one among them', () => {
    let i = 0;
    expect(permutationPValue(10, () => i++, 19)).toBe((1 + 9) / 20);
    expect(permutationPValue(1, () => 0, 999)).toBe(1 / 1000);
  });

  it('counts a draw that differs in rounding only', () => {
    expect(permutationPValue(0.1 + 0.2, () => 0.3, 9)).toBe(1);
  });

  it('is uniform when there is nothing to find', () => {
    const random = seededRandom(2);
    const pValues = Array.from({ length: 2000 }, () => permutationPValue(random(), random, 99));
    const small = pValues.filter((p) => p <= 0.05).length;
    expect(small / 2000).toBeGreaterThan(0.035);
    expect(small / 2000).toBeLessThan(0.065);
  });
});

describe('outliers', () => {
  it('flags what lies far from the rest and nothing else', () => {
    // Iglewicz & Hoaglin's own example: 2.1 2.6 2.4 2.5 2.3 2.1 2.3 2.6 8.2 8.3
    expect(outliers([2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3])).toEqual([
      ...new Array(8).fill(false),
      true,
      true,
    ]);
    expect(outliers([10, 11, 9, 10.5, 9.5, 10])).not.toContain(true);
  });

  it('works where most values are equal', () => {
    expect(outliers([5, 5, 5, 5, 5, 5, 5, 9])).toEqual([...new Array(7).fill(false), true]);
    expect(outliers([5, 5, 5, 5, 5, 5])).not.toContain(true);
  });

  it('says nothing of five values', () => {
    expect(outliers([1, 1, 1, 1, 100])).not.toContain(true);
  });
});

describe('rounds needed', () => {
  it('follow the square of variation over difference', () => {
    const plan = { standardDeviation: 0.065, difference: 0.05, alpha: 0.05, power: 0.9 };
    // ((1.96 + 1.2816) * 0.065 / 0.05)^2 * pi / 3 = 18.6
    expect(roundsNeeded(plan)).toBe(19);
    expect(roundsNeeded({ ...plan, difference: 0.025 })).toBe(75);
  });

  it('are never fewer than an interval takes', () => {
    expect(roundsNeeded({ standardDeviation: 0.001, difference: 0.5, alpha: 0.05 })).toBe(6);
  });

  it('take the variation from the interval', () => {
    // half-width 1.96 * sd / sqrt(n * 3 / pi)
    expect(standardDeviationFromInterval(1.96 / Math.sqrt((25 * 3) / Math.PI), 25, 0.05)).toBeCloseTo(1, 2);
  });
});
