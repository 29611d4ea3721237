import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/core/random.js';
import { pointIds } from '../../../src/services/point-keys.js';

const DRAWS = 10_000;

function hitsOf(hitRate: number): number {
  const ids = pointIds({ entries: 50, hitRate, random: seededRandom(7) });
  return Array.from({ length: DRAWS }, () => ids.wanted()).filter((id) => id <= 50).length;
}

describe('ids of the point service', () => {
  it('are entries as often as the hit rate says, and beyond them otherwise', () => {
    expect(hitsOf(1)).toBe(DRAWS);
    expect(hitsOf(0)).toBe(0);
    // 5 standard errors of a binomial share: 0.3 ± 0.023
    expect(Math.abs(hitsOf(0.3) / DRAWS - 0.3)).toBeLessThan(0.023);
  });

  it('reach the first entry and the last', () => {
    const ids = pointIds({ entries: 3, hitRate: 1, random: seededRandom(7) });
    expect(new Set(Array.from({ length: 100 }, () => ids.existing()))).toEqual(new Set([1, 2, 3]));
  });
});
