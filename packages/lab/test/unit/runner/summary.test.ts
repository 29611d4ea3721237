import { describe, expect, it } from 'vitest';
import { LatencyHistogram } from '../../../src/measure/histogram.js';
import type { Ledger, VariantSummary } from '../../../src/measure/result.js';
import { Summary } from '../../../src/measure/result.js';
import { type MeasuredTrial, pairUp } from '../../../src/runner/pairs.js';
import { summarise, summariseVariants } from '../../../src/runner/summary.js';
import {
  failedTrialFixture,
  invalidTrialFixture,
  ledgerFixture,
  planFixture,
  trialFixture,
} from '../../support/result-fixture.js';
import { simulateRun, THROUGHPUT } from '../../support/simulated-run.js';

const QUEUE = 'queue batch=100';

function queueTrials(count: number, changes: (index: number) => Partial<MeasuredTrial>): MeasuredTrial[] {
  return Array.from({ length: count }, (_, index) =>
    trialFixture(QUEUE, index + 1, 1, { histograms: {}, ...changes(index) }),
  );
}

function summaryOf(trials: Parameters<typeof summariseVariants>[0]): VariantSummary {
  const summary = summariseVariants(trials, planFixture(), [THROUGHPUT]).find(({ name }) => name === QUEUE);
  if (summary === undefined) throw new Error('the plan has no queue');
  return summary;
}

const throughput = (value: number) => ({ metrics: { throughput: { value, unit: 'msg/s' } } });

describe('summariseVariants', () => {
  it('gives one summary per variant of the plan, in its order, also for those without trials', () => {
    const plan = planFixture();
    const summaries = summariseVariants([], plan, [THROUGHPUT]);
    expect(summaries.map(({ name }) => name)).toEqual(plan.variants.map(({ name }) => name));
    expect(summaries[0]).toMatchObject({
      metrics: {},
      percentiles: {},
      outliers: [],
      trials: { measured: 0 },
    });
  });

  it('is median and order-statistic interval of the trials that count', () => {
    const check = { id: 'undrained', status: 'fail', evidence: '', remedy: '' } as const;
    const trials = [
      ...queueTrials(8, (index) => throughput((index + 1) * 100)),
      { ...invalidTrialFixture(QUEUE, 9, check), ...throughput(1e9) },
      failedTrialFixture(QUEUE, 10, 'gone'),
    ];
    const summary = summaryOf(trials);
    expect(summary.metrics.throughput).toEqual({ median: 450, ci95: [100, 800], unit: 'msg/s', n: 8 });
    expect(summary.trials).toEqual({ measured: 8, invalid: 1, failed: 1 });
    expect(summary.ledger.attempted).toBe(8 * 20_000);
    expect(summaryOf(trials.slice(0, 5)).metrics.throughput?.ci95).toBeNull();
  });

  it('merges histograms; percentiles need 100 samples beyond them', () => {
    const trials = queueTrials(5, (trial) => {
      const histogram = new LatencyHistogram();
      for (let i = 0; i < 2000; i++) histogram.record((trial * 2000 + i) * 1000);
      return { histograms: { latency: histogram.encode() } };
    });
    const { latency } = summaryOf(trials).percentiles;
    expect(latency).toMatchObject({ count: 10_000, p999: null, unit: 'ns' });
    expect((latency?.p50 ?? 0) / 5e6).toBeCloseTo(1, 2);
    expect((latency?.p99 ?? 0) / 9.9e6).toBeCloseTo(1, 2);
    expect((latency?.max ?? 0) / 9.999e6).toBeCloseTo(1, 2);
  });

  it('flags trials far from the rest and keeps them', () => {
    const trials = queueTrials(9, (index) => throughput(index === 4 ? 300 : 1000 + index));
    const summary = summaryOf(trials);
    expect(summary.outliers).toEqual(['5.1']);
    expect(summary.metrics.throughput?.n).toBe(9);
  });

  it('names the limit when most trials agree, with figures, else says mixed', () => {
    const clear = summaryOf(queueTrials(8, (index) => ({ limitedBy: index < 6 ? 'consumer' : 'redis' })));
    expect(clear.limitedBy).toEqual({
      role: 'consumer',
      evidence:
        'consumer in 6, redis in 2 of 8 trials; producer 0.410 cores, event loop 50 %; ' +
        'consumer 0.520 cores, event loop 60 %; redis main thread 0.950 cores',
    });
    expect(
      summaryOf(queueTrials(8, (index) => ({ limitedBy: index < 5 ? 'consumer' : 'redis' }))).limitedBy.role,
    ).toBe('mixed');
  });
});

describe('summarise', () => {
  const findingsOf = (ledgerChanges: Partial<Ledger> = {}, rankingRefused?: string): readonly string[] => {
    const run = simulateRun({ seed: 4, rounds: 20, speeds: [1, 1.5, 1.48, 1.001], variation: 0.01 });
    const trials = run.trials.map((trial) =>
      trial.variant === 'pattern-1' && trial.state === 'measured'
        ? { ...trial, histograms: {}, ledger: ledgerFixture(ledgerChanges) }
        : { ...trial, histograms: {} },
    );
    return summarise({ ...run, trials, rankingRefused }).findings;
  };

  it('fits the schema of the result', () => {
    const run = simulateRun({ seed: 4, rounds: 8, speeds: [1, 1.5], variation: 0.05 });
    const trials = run.trials.map((trial) => ({ ...trial, histograms: {} }));
    expect(() => Summary.parse(summarise({ ...run, trials }))).not.toThrow();
    expect(() => Summary.parse(summarise({ ...run, trials: [] }))).not.toThrow();
  });

  it('tells first that nothing was lost, then who leads and who shares the lead, then ties and limits', () => {
    const [loss, leader, tie, limit, ...rest] = findingsOf();
    expect(loss).toBe('no message was lost: all 2,000,000 acknowledged ones were delivered');
    expect(leader).toMatch(
      /^pattern-1 has the highest throughput: [\d,]+ msg\/s \(median\), but is not surely ahead of pattern-2$/,
    );
    expect(tie).toMatch(/^pattern-3 and pattern-0 are equal in throughput within 3 %/);
    expect(limit).toBe('what set the pace: redis (pattern-0, pattern-1, pattern-2, pattern-3)');
    expect(rest).toEqual([]);
  });

  it('tells a loss before everything else', () => {
    const [loss, repeated] = findingsOf({ delivered: 19_990, lost: 10, duplicated: 3 });
    expect(loss).toBe('pattern-1 lost 200 of 400,000 acknowledged messages');
    expect(repeated).toBe('pattern-1 delivered 60 messages again');
  });

  it('names what the experiment counts', () => {
    const run = simulateRun({ seed: 4, rounds: 8, speeds: [1, 1.5], variation: 0.05 });
    const trials = run.trials.map((trial) => ({ ...trial, histograms: {} }));
    const counted = { one: 'request', many: 'requests', fate: 'were answered' };
    const [loss] = summarise({ ...run, trials, counted }).findings;
    expect(loss).toBe('no request was lost: all 480,000 acknowledged ones were answered');
  });

  it('names the factor of a variant that is told apart by a number', () => {
    const run = simulateRun({ seed: 4, rounds: 8, speeds: [1, 1.5], variation: 0.05 });
    const variants = run.plan.variants.map((variant, index) => ({
      ...variant,
      factors: { depth: index === 1 ? 16 : 1 },
    }));
    const plan = { ...run.plan, variants, factors: { depth: [1, 16] } };
    const trials = run.trials.map((trial) => ({ ...trial, histograms: {} }));
    const { findings, comparisons } = summarise({ ...run, plan, trials });
    expect(findings[1]).toMatch(/^depth 16 has the highest throughput: /);
    expect(comparisons[0]?.sentence).toMatch(/^depth 16 .* depth 1 /);
  });

  it('ranks nothing when the ranking was taken away', () => {
    const findings = findingsOf({}, 'generator-limited: the producer was the limit');
    expect(findings[1]).toBe('no ranking: generator-limited: the producer was the limit');
    expect(findings.join()).not.toContain('highest');
  });

  it('gives the reason where there is no verdict', () => {
    const run = simulateRun({ seed: 4, rounds: 4, speeds: [1, 2, 3], variation: 0.01 });
    const trials = run.trials.map((trial) => ({ ...trial, histograms: {} }));
    const findings = summarise({ ...run, trials }).findings;
    expect(findings[1]).toBe(
      'no verdict on the throughput of pattern-1 against pattern-0: ' +
        'no 95 % interval exists below 6 rounds, and 4 were measured; nor on 1 more',
    );
    expect(findings.join()).not.toContain('highest');
  });

  it('says what was left out and why', () => {
    const run = simulateRun({ seed: 4, rounds: 10, speeds: [1, 2], variation: 0.01 });
    const check = { id: 'undrained', status: 'fail', evidence: '', remedy: '' } as const;
    const trials = [
      ...run.trials.map((trial) => ({ ...trial, histograms: {} })),
      invalidTrialFixture('pattern-1', 11, check),
      failedTrialFixture('pattern-1', 12, 'gone'),
    ];
    const findings = summarise({ ...run, trials }).findings;
    expect(findings.at(1)).toContain('pattern-1 has the highest throughput');
    expect(findings.at(1)).toContain('surely ahead of every other');
    expect(findings.at(-1)).toBe('2 of 32 trials are not in the figures: undrained 1, could not be made 1');
  });
});

describe('pairUp', () => {
  it('pairs by round and counts what cannot be used', () => {
    const trials = [
      trialFixture('a', 1, 1, throughput(100)),
      trialFixture('b', 1, 2, throughput(200)),
      trialFixture('a', 2, 1, throughput(0)),
      trialFixture('b', 2, 2, throughput(200)),
      failedTrialFixture('b', 3, 'gone'),
      trialFixture('a', 4, 1, throughput(100)), // interrupted: the partner was never made
    ];
    expect(pairUp(trials, 'throughput', 'a', 'b')).toEqual({
      logRatios: [Math.log(2)],
      trials: 6,
      leftOut: 2,
    });
  });
});
