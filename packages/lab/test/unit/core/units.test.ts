import { describe, expect, it } from 'vitest';
import { formatBytes, formatNanoseconds, significant } from '../../../src/core/units.js';

describe('significant', () => {
  it.each([
    [0, '0'],
    [12_345.6, '12,300'],
    [1.234, '1.23'],
    [-1.234, '-1.23'],
    [0.012345, '0.0123'],
    [99.96, '100'],
    [9.999, '10.0'],
    [999_999, '1,000,000'],
    [1e-7, '0.000000100'],
    [Number.NaN, 'NaN'],
  ])('writes %d as %s', (value, written) => {
    expect(significant(value)).toBe(written);
  });
});

describe('units', () => {
  it('writes times and sizes in the largest unit that fits', () => {
    expect(formatNanoseconds(1_234_567)).toBe('1.23 ms');
    expect(formatNanoseconds(0)).toBe('0 ns');
    expect(formatBytes(1_048_576)).toBe('1.00 MiB');
  });
});
