import { describe, expect, it } from 'vitest';
import type { MetricDefinition } from '../../../src/measure/measurement.js';
import type { Comparison, Trial } from '../../../src/measure/result.js';
import { compareVariants, type JudgedRun } from '../../../src/runner/verdict.js';
import {
  failedTrialFixture,
  invalidTrialFixture,
  planFixture,
  trialFixture,
} from '../../support/result-fixture.js';
import { THROUGHPUT } from '../../support/simulated-run.js';

const BASELINE = 'queue batch=100';
const CANDIDATE = 'stream-group batch=100';
const COPY = 'queue batch=100 (A/A)';

/** Ratios by round; the copy of the baseline differs by `noise` (rounds repeat it). */
function runOf(
  ratios: readonly number[],
  noise: readonly number[] = [1.001, 0.999],
  metric = THROUGHPUT,
): JudgedRun {
  const plan = planFixture({
    rounds: ratios.length,
    variants: planFixture().variants.filter(({ group }) => group === 'batch=100'),
  });
  const trials = ratios.flatMap((ratio, index): Trial[] => {
    const base = 1000 * (1 + 0.1 * (index % 3)); // common to the round
    const figure = (value: number) => ({ metrics: { [metric.name]: { value, unit: metric.unit } } });
    return [
      trialFixture(BASELINE, index + 1, 1, figure(base)),
      trialFixture(CANDIDATE, index + 1, 2, figure(base * ratio)),
      trialFixture(COPY, index + 1, 3, figure(base * (noise[index % noise.length] ?? 1))),
    ];
  });
  return { plan, trials, metrics: [metric] };
}

function judged(run: JudgedRun): Comparison {
  const [comparison] = compareVariants(run).comparisons;
  if (comparison === undefined) throw new Error('no comparison was made');
  return comparison;
}

const around = (centre: number, spread: number, rounds = 12): number[] =>
  Array.from({ length: rounds }, (_, index) => centre * Math.exp(spread * ((index + 0.5) / rounds - 0.5)));

describe('the verdict', () => {
  it('is faster when the interval lies beyond the margin', () => {
    const comparison = judged(runOf(around(1.42, 0.1)));
    expect(comparison.verdict).toBe('faster');
    expect(comparison.ratio).toBeCloseTo(1.42, 10);
    expect(comparison).toMatchObject({ baseline: BASELINE, candidate: CANDIDATE, pairs: 12, margin: 0.03 });
    expect(comparison.sentence).toMatch(
      /^stream-group handles 1\.42 times as many messages per second as queue at batch 100 \(95 % interval 1\.\d\d to 1\.\d\d\)$/,
    );
    expect(comparison.pValue).toBe(2 / 2 ** 12);
  });

  it('is slower the other way round', () => {
    const comparison = judged(runOf(around(0.7, 0.1)));
    expect(comparison.verdict).toBe('slower');
    expect(comparison.sentence).toContain(
      'handles 0.700 times as many messages per second as queue at batch 100',
    );
  });

  it('of a metric that is better low turns faster and slower round, and does not misname it', () => {
    const latency: MetricDefinition = {
      name: 'latencyP99',
      unit: 'ns',
      better: 'lower',
      compared: true,
      description: '99th percentile.',
    };
    const faster = judged(runOf(around(0.7, 0.1), undefined, latency));
    expect(faster.verdict).toBe('faster');
    expect(faster.sentence).toContain('stream-group has 0.700 times the latency p99 of queue at batch 100');
    expect(judged(runOf(around(1.3, 0.1), undefined, latency)).verdict).toBe('slower');
  });

  it('is a tie when the 90 % interval lies inside the margin, also where equality is excluded', () => {
    const tie = judged(runOf(around(1.001, 0.03)));
    expect(tie.verdict).toBe('tie');
    expect(tie.sentence).toMatch(
      /^stream-group and queue are equal in throughput at batch 100 within 3 %: ratio 1\.00 \(90 % interval/,
    );
    expect(judged(runOf(around(1.01, 0.01))).verdict).toBe('tie');
  });

  it('is small when equality is excluded and the margin is not cleared', () => {
    const small = judged(runOf(around(1.035, 0.05)));
    expect(small.verdict).toBe('small');
    expect(small.sentence).toContain('a difference, but perhaps less than the margin of 3 %');
  });

  it('is inconclusive otherwise, with the rounds it would take', () => {
    const open = judged(runOf(around(1.02, 0.3)));
    expect(open.verdict).toBe('inconclusive');
    expect(open.roundsNeeded).toBeGreaterThan(12);
    expect(open.sentence).toContain(`about ${open.roundsNeeded} rounds would tell`);
  });

  it('never falls below 3 %, follows the user above, and the noise above that', () => {
    const asked = runOf(around(1.08, 0.01));
    expect(judged({ ...asked, plan: { ...asked.plan, margin: 0.001 } }).margin).toBe(0.03);
    expect(judged({ ...asked, plan: { ...asked.plan, margin: 0.1 } })).toMatchObject({
      margin: 0.1,
      verdict: 'tie',
    });
    const noisy = runOf(around(1.08, 0.01), [1.2, 0.9, 1, 0.8, 1.1]);
    const { halfWidth } = compareVariants(noisy).noiseFloor[0] ?? {};
    expect(judged(noisy).margin).toBe(halfWidth);
    expect(judged(noisy).verdict).not.toBe('faster');
  });
});

describe('no verdict', () => {
  it('below six rounds: no 95 % interval exists', () => {
    const comparison = judged(runOf(around(2, 0.01, 5)));
    expect(comparison).toMatchObject({ verdict: 'none', ci95: null, pairs: 5, roundsNeeded: null });
    expect(comparison.ratio).toBeCloseTo(2, 10);
    expect(comparison.sentence).toBe(
      'no verdict on the throughput of stream-group against queue at batch 100: ' +
        'no 95 % interval exists below 6 rounds, and 5 were measured',
    );
  });

  it('when more than 20 % of the trials were left out, whatever is left', () => {
    const run = runOf(around(2, 0.01, 20));
    const check = { id: 'undrained', status: 'fail', evidence: '3 left', remedy: '' } as const;
    const leaveOut = (rounds: number): JudgedRun => ({
      ...run,
      trials: run.trials.map((trial) => {
        if (trial.variant === COPY || trial.round > rounds) return trial;
        return trial.variant === CANDIDATE
          ? invalidTrialFixture(trial.variant, trial.round, check)
          : failedTrialFixture(trial.variant, trial.round, 'gone');
      }),
    });
    expect(judged(leaveOut(4)).verdict).toBe('faster');
    const refused = judged(leaveOut(5));
    expect(refused.verdict).toBe('none');
    expect(refused.sentence).toContain('10 of 40 trials were left out, more than 20 %');
  });

  it('when the ranking was taken away, with the reason', () => {
    const refused = judged({
      ...runOf(around(2, 0.01)),
      rankingRefused: 'generator-limited: the producer was the limit',
    });
    expect(refused.verdict).toBe('none');
    expect(refused.sentence).toContain('generator-limited: the producer was the limit');
  });

  it('when the noise floor was planned and could not be measured', () => {
    const run = runOf(around(2, 0.01));
    const refused = judged({
      ...run,
      trials: run.trials.filter(({ variant, round }) => variant !== COPY || round < 4),
    });
    expect(refused.sentence).toContain('the noise floor is unknown');
    const unplanned = {
      ...run,
      plan: { ...run.plan, variants: run.plan.variants.filter(({ role }) => role !== 'a-a') },
    };
    expect(judged(unplanned).verdict).toBe('faster');
  });

  it('when no trial gave a figure', () => {
    const other = { ...THROUGHPUT, name: 'latencyP99' };
    const refused = judged({ ...runOf(around(2, 0.01)), metrics: [other] });
    expect(refused).toMatchObject({ verdict: 'none', ratio: null, pValue: null, pairs: 0 });
    expect(compareVariants({ ...runOf(around(2, 0.01)), metrics: [other] }).noiseFloor).toEqual([]);
  });

  it('of metrics that are not compared or have no better', () => {
    const run = runOf(around(2, 0.01));
    const metrics = [
      { ...THROUGHPUT, compared: false },
      { ...THROUGHPUT, better: 'neither' as const },
    ];
    expect(compareVariants({ ...run, metrics }).comparisons).toEqual([]);
  });
});

it('leaves out a trial without a partner and a figure of zero', () => {
  const run = runOf(around(2, 0.01));
  const trials = run.trials.map((trial) =>
    trial.variant === CANDIDATE && trial.round === 1 && trial.state === 'measured'
      ? { ...trial, metrics: { throughput: { value: 0, unit: 'msg/s' } } }
      : trial,
  );
  expect(judged({ ...run, trials }).pairs).toBe(11);
});

it('turns round exactly when baseline and candidate change places', () => {
  const there = judged(runOf(around(1.2, 0.2)));
  const back = judged(runOf(around(1 / 1.2, 0.2)));
  expect((there.ratio ?? 0) * (back.ratio ?? 0)).toBeCloseTo(1, 10);
  expect((there.ci95?.[0] ?? 0) * (back.ci95?.[1] ?? 0)).toBeCloseTo(1, 10);
  expect(back.pValue).toBe(there.pValue);
});
