import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { monotonicNs } from '../../../src/measure/clock.js';

it('never goes back and is a whole number', () => {
  let before = monotonicNs();
  for (let i = 0; i < 10_000; i++) {
    const now = monotonicNs();
    expect(now).toBeGreaterThanOrEqual(before);
    before = now;
  }
  expect(Number.isSafeInteger(before)).toBe(true);
});

it('is the same clock in another process of this host', () => {
  const before = monotonicNs();
  const program = 'const [s, n] = process.hrtime(); console.log(s * 1e9 + n)';
  const other = Number(execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' }));
  expect(other).toBeGreaterThan(before);
  expect(other).toBeLessThan(monotonicNs());
});
