import { describe, expect, it, vi } from 'vitest';
import type { Comparison } from '../../../src/measure/result.js';
import { compareVariants } from '../../../src/runner/verdict.js';
import { type Simulation, simulateRun } from '../../support/simulated-run.js';

/**
 * weir measures weir: simulated runs whose truth is known, judged by the code that judges real ones. The figures are the
 * promises of docs/methodology.md, at the variation that was measured: trials of 100,000 messages vary by 4.6 %.
 */
vi.setConfig({ testTimeout: 120_000 }); // thousands of runs, on a machine that may be busy

const VARIATION = 0.046;
const EQUAL = [1, 1, 1, 1] as const;
const DISTURBED = 1 / 20;

const isRanked = ({ verdict }: Comparison): boolean => verdict === 'faster' || verdict === 'slower';
const isCalledDifferent = (comparison: Comparison): boolean =>
  isRanked(comparison) || comparison.verdict === 'small';

function simulated(runs: number, simulation: Omit<Simulation, 'seed'>): Comparison[][] {
  return Array.from({ length: runs }, (_, index) => {
    return compareVariants(simulateRun({ ...simulation, seed: index + 1 })).comparisons;
  });
}

/** Share of simulated runs in which at least one comparison is as asked. */
function shareOf(runs: readonly Comparison[][], isWanted: (comparison: Comparison) => boolean): number {
  return runs.filter((comparisons) => comparisons.some(isWanted)).length / runs.length;
}

describe('identical variants are called different in at most 5 of 100 runs', () => {
  const runs = 1000;
  for (const rounds of [8, 12, 20]) {
    for (const disturbed of [0, DISTURBED]) {
      it(`${rounds} rounds, ${disturbed === 0 ? 'quiet' : 'one round in twenty disturbed'}`, () => {
        const judged = simulated(runs, { rounds, speeds: EQUAL, variation: VARIATION, disturbed });
        // "Different" in any way at all, by any of the three comparisons
        expect(shareOf(judged, isCalledDifferent)).toBeLessThanOrEqual(0.05);
        // and faster or slower hardly ever: the interval would have to clear the noise floor too
        expect(shareOf(judged, isRanked)).toBeLessThanOrEqual(0.01);
      });
    }
  }

  it('also when a thorough run looks at 20 rounds and again at 30', () => {
    let called = 0;
    for (let seed = 1; seed <= runs; seed++) {
      const run = simulateRun({
        seed,
        rounds: 30,
        speeds: EQUAL,
        variation: VARIATION,
        precision: 'thorough',
      });
      const firstLook = { ...run, trials: run.trials.filter(({ round }) => round <= 20) };
      const both = [...compareVariants(firstLook).comparisons, ...compareVariants(run).comparisons];
      if (both.some(isCalledDifferent)) called++;
    }
    expect(called / runs).toBeLessThanOrEqual(0.05);
  });
});

describe('a variant made 10 % slower is found slower in at least 90 of 100 runs of 20 rounds', () => {
  const foundSlower = ({ candidate, verdict }: Comparison): boolean =>
    candidate === 'pattern-2' && verdict === 'slower';
  for (const disturbed of [0, DISTURBED]) {
    it(disturbed === 0 ? 'quiet' : 'one round in twenty disturbed', () => {
      const simulation = { rounds: 20, speeds: [1, 1, 0.9, 1], variation: VARIATION, disturbed };
      expect(shareOf(simulated(300, simulation), foundSlower)).toBeGreaterThanOrEqual(0.9);
    });
  }

  it('and never faster', () => {
    const simulation = { rounds: 20, speeds: [1, 1, 0.9, 1], variation: VARIATION, disturbed: DISTURBED };
    const foundFaster = ({ candidate, verdict }: Comparison): boolean =>
      candidate === 'pattern-2' && verdict === 'faster';
    expect(shareOf(simulated(300, simulation), foundFaster)).toBe(0);
  });
});

describe('a difference below the margin is not called faster', () => {
  for (const variation of [VARIATION, 0.01]) {
    it(`1 % at a margin of 3 %, trials that vary by ${variation * 100} %`, () => {
      const simulation = { rounds: 20, speeds: [1, 1.01, 1.01, 1.01], variation };
      expect(shareOf(simulated(300, simulation), isRanked)).toBeLessThanOrEqual(0.01);
    });
  }

  it('of exactly the margin in all variants: at most 5 of 100 runs call any', () => {
    const simulation = { rounds: 20, speeds: [1, 1.03, 1.03, 1.03, 1.03, 1.03], variation: 0.01 };
    expect(shareOf(simulated(600, simulation), isRanked)).toBeLessThanOrEqual(0.05);
  });
});

it('a tie is claimed of a difference as large as the margin in at most 5 of 100 runs', () => {
  const runs = 1000;
  const simulation = { rounds: 20, speeds: [1, 1.03], variation: 0.01 };
  // The exact chance is P(T <= 60) = 4.87 % at 20 rounds: a count of runs scatters around that very figure.
  const scatter = 3 * Math.sqrt((0.0487 * 0.9513) / runs);
  const share = shareOf(simulated(runs, simulation), ({ verdict }) => verdict === 'tie');
  expect(Math.abs(share - 0.0487)).toBeLessThan(scatter);
});

it('the interval covers the true ratio in at least 95 of 100 runs, at the level of its family', () => {
  const speeds = [1, 1.2, 0.8, 1];
  const simulation = { rounds: 12, speeds, variation: VARIATION, disturbed: DISTURBED };
  const misses = ({ candidate, ci95 }: Comparison): boolean => {
    const truth = speeds[Number(candidate.replace('pattern-', ''))] ?? Number.NaN;
    return ci95 === null || ci95[0] > truth || ci95[1] < truth;
  };
  // Holm ends with 5 % for the last of three: the one that is equal, once the two others are rejected.
  const missesEqual = (comparison: Comparison): boolean =>
    comparison.candidate === 'pattern-3' && misses(comparison);
  expect(shareOf(simulated(600, simulation), missesEqual)).toBeLessThanOrEqual(0.05);
});
