import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/core/random.js';
import {
  decodeHistogram,
  hasPercentile,
  LatencyHistogram,
  mergeHistograms,
  samplesNeeded,
} from '../../../src/measure/histogram.js';

const HOUR_NS = 3_600_000_000_000;

function recorded(values: readonly number[]): LatencyHistogram {
  const histogram = new LatencyHistogram();
  for (const value of values) histogram.record(value);
  return histogram;
}

describe('LatencyHistogram', () => {
  it('keeps percentiles of a known sample to three digits', () => {
    const values = Array.from({ length: 20_000 }, (_, index) => (index + 1) * 1000);
    const decoded = decodeHistogram(recorded(values).encode());
    expect(decoded.count).toBe(20_000);
    for (const [fraction, exact] of [
      [0.5, 10_000_000],
      [0.99, 19_800_000],
    ] as const) {
      const value = decoded.percentile(fraction) ?? Number.NaN;
      expect(Math.abs(value / exact - 1)).toBeLessThan(0.001);
    }
  });

  it('spans a nanosecond to more than an hour', () => {
    const decoded = decodeHistogram(recorded([1, 999, HOUR_NS, 3 * HOUR_NS]).encode());
    expect(decoded.count).toBe(4);
    expect(Math.abs((decoded.maximum ?? 0) / (3 * HOUR_NS) - 1)).toBeLessThan(0.001);
  });

  it('keeps zero and counts negative samples as zero', () => {
    const encoded = recorded([0, 0, -5, 7]).encode();
    expect(encoded).toMatchObject({ unit: 'ns', count: 4, negative: 1 });
    expect(decodeHistogram(mergeHistograms(new Array(100).fill(encoded))).percentile(0.5)).toBe(0);
  });

  it('shows a percentile only with 100 samples beyond it', () => {
    const values = Array.from({ length: 10_000 }, (_, index) => index);
    expect(decodeHistogram(recorded(values).encode()).percentile(0.99)).not.toBeNull();
    expect(decodeHistogram(recorded(values.slice(1)).encode()).percentile(0.99)).toBeNull();
    expect(decodeHistogram(recorded(values).encode()).percentile(0.999)).toBeNull();
  });
});

describe('mergeHistograms', () => {
  it('equals one histogram of all samples, whatever the ranges', () => {
    const random = seededRandom(5);
    const near = Array.from({ length: 3000 }, () => Math.floor(random() * 1e6));
    const far = Array.from({ length: 3000 }, () => Math.floor(random() * 1e12));
    const merged = decodeHistogram(mergeHistograms([recorded(near).encode(), recorded(far).encode()]));
    const together = decodeHistogram(recorded([...near, ...far]).encode());
    expect(merged.count).toBe(6000);
    for (const fraction of [0.25, 0.5, 0.9, 0.98]) {
      expect(merged.percentile(fraction)).toBe(together.percentile(fraction));
    }
    expect(merged.maximum).toBe(together.maximum);
  });

  it('of nothing is empty, and sums the negatives', () => {
    expect(decodeHistogram(mergeHistograms([])).maximum).toBeNull();
    const negative = recorded([-1, -2]).encode();
    expect(mergeHistograms([negative, negative])).toMatchObject({ count: 4, negative: 4 });
  });
});

describe('samplesNeeded', () => {
  it('is 100 beyond the percentile', () => {
    expect([0.5, 0.9, 0.99, 0.999].map(samplesNeeded)).toEqual([200, 1000, 10_000, 100_000]);
    expect(hasPercentile(9999, 0.99)).toBe(false);
    expect(hasPercentile(10_000, 0.99)).toBe(true);
  });
});
