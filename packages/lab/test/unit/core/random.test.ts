import { describe, expect, it } from 'vitest';
import { seededRandom, shuffle } from '../../../src/core/random.js';

describe('seededRandom', () => {
  it('repeats itself for a seed and differs for another', () => {
    const draw = (seed: number) => Array.from({ length: 5 }, seededRandom(seed));
    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  it('gives the published values of mulberry32 for seed 1', () => {
    const random = seededRandom(1);
    expect(random()).toBeCloseTo(0.6270739405881613, 15);
    expect(random()).toBeCloseTo(0.002735721180215478, 15);
  });

  it('is uniform in [0, 1): chi-square over 20 bins stays below the 0.1 % point', () => {
    const random = seededRandom(42);
    const bins = new Array<number>(20).fill(0);
    for (let i = 0; i < 20_000; i++) {
      const bin = Math.floor(random() * 20);
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    const chiSquare = bins.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0);
    expect(chiSquare).toBeLessThan(43.8); // 19 degrees of freedom
  });
});

describe('shuffle', () => {
  it('keeps every item and leaves the original alone', () => {
    const items = ['a', 'b', 'c', 'd'];
    expect(shuffle(items, seededRandom(1)).sort()).toEqual(items);
    expect(items).toEqual(['a', 'b', 'c', 'd']);
  });

  it('gives each of the six orders of three items equally often', () => {
    const random = seededRandom(3);
    const seen = new Map<string, number>();
    for (let i = 0; i < 6000; i++) {
      const order = shuffle(['a', 'b', 'c'], random).join('');
      seen.set(order, (seen.get(order) ?? 0) + 1);
    }
    expect(seen.size).toBe(6);
    for (const count of seen.values()) expect(Math.abs(count - 1000)).toBeLessThan(120); // 4 standard deviations
  });
});
