import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { Result } from '../../../src/measure/result.js';
import { text } from '../../../src/reporters/text.js';
import {
  comparisonFixture,
  failedTrialFixture,
  invalidTrialFixture,
  ledgerFixture,
  planFixture,
  resultFixture,
  trialFixture,
  variantSummaryFixture,
} from '../../support/result-fixture.js';

const WIDTH = 100;

function render(changes: Partial<Result> = {}): string {
  return text.render(resultFixture(changes), { color: false, width: WIDTH });
}

/** Sentences are wrapped; a test looks for the words. */
function flat(report: string): string {
  return report.replace(/\s+/g, ' ');
}

describe('text report', () => {
  it('opens with the findings, then verdicts, figures, noise floor, checks and how to reproduce', () => {
    const headings = render()
      .split('\n')
      .filter((line) =>
        ['Findings', 'Verdicts', 'Figures', 'Noise floor', 'Checks', 'Reproduce'].includes(line),
      );
    expect(headings).toEqual(['Findings', 'Verdicts', 'Figures', 'Noise floor', 'Checks', 'Reproduce']);
  });

  it('gives one verdict sentence per comparison, opened by the verdict', () => {
    expect(render()).toMatch(/^ {4}faster +stream-group batch=100 is 1\.34 times as fast/m);
    expect(render()).toMatch(/^ {4}tie +stream-group batch=1 and queue/m);
  });

  it('writes medians with their 95 % interval in three significant digits', () => {
    expect(render()).toContain('30,000 [29,600–30,400]');
    expect(render()).toContain('1.23 ms');
  });

  it('marks the second copy of the baseline', () => {
    expect(render()).toMatch(/^ {2}queue \(A\/A\) /m);
  });

  it('says that closed-loop latency is not service latency', () => {
    expect(flat(render())).toContain('saturated, not service latency');
    const paced = render({ plan: planFixture({ workload: { mode: 'rate', rate: 2000 } }) });
    expect(paced).not.toContain('saturated');
    expect(flat(paced)).toContain('from the intended send time');
  });

  it('fits into 100 columns, but for commands, which are never broken', () => {
    const tooWide = render()
      .split('\n')
      .filter((line) => line.length > WIDTH && !line.includes(' weir '));
    expect(tooWide).toEqual([]);
  });

  it('is the same text with and without colour', () => {
    const coloured = text.render(resultFixture(), { color: true, width: WIDTH });
    expect(coloured).not.toBe(render());
    expect(stripVTControlCharacters(coloured)).toBe(render());
  });

  it('tells how to reproduce: command with seed, digest of the plan, run id', () => {
    const report = render();
    expect(report).toContain('weir run messaging --patterns queue,stream-group --batch 1,100');
    expect(report).toMatch(/sha256 [0-9a-f]{64}/);
    expect(report).toContain('weir report 20261130-142530-k3v9');
  });

  it('labels a quick run exploratory', () => {
    expect(render({ plan: planFixture({ precision: 'quick', rounds: 8 }) })).toContain(
      'EXPLORATORY  8 rounds',
    );
    expect(render()).not.toContain('EXPLORATORY');
  });

  it('shows no interval and no verdict for 3 rounds', () => {
    const base = resultFixture();
    const variants = base.summary.variants.map((summary) =>
      variantSummaryFixture(summary.name, 30_000, {
        metrics: { throughput: { median: 30_000, ci95: null, unit: 'msg/s', n: 3 } },
      }),
    );
    const noiseFloor = base.summary.noiseFloor.map((floor) => ({ ...floor, ci95: null, halfWidth: null }));
    const sentence = 'no 95 % interval exists with 3 rounds';
    const report = render({
      plan: planFixture({ rounds: 3, precision: 'custom' }),
      summary: {
        ...base.summary,
        variants,
        noiseFloor,
        comparisons: [comparisonFixture({ ratio: 1.3, ci95: null, pairs: 3, verdict: 'none', sentence })],
      },
    });
    expect(report).toContain('NO VERDICT  3 rounds: no 95 % interval exists');
    expect(report).toMatch(/no verdict +no 95 % interval/);
    expect(report).toContain('too few rounds for an interval');
    expect(report).not.toContain('[95 %]');
  });

  it('warns above everything else when the run is invalid, with evidence and remedy', () => {
    const report = render({
      validity: [
        {
          id: 'failed-operations',
          status: 'fail',
          evidence: '1.20 % of 20,000 sends failed (allowed 0.1 %)',
          remedy: 'look for OOM in the log of Redis',
        },
        {
          id: 'order-effect',
          status: 'warn',
          evidence: 'the first place is 4 % slower',
          remedy: 'use --thorough',
        },
      ],
    });
    expect(report.indexOf('NOT VALID  draw no conclusion')).toBeLessThan(report.indexOf('Findings'));
    expect(report).toMatch(/FAIL {2}failed-operations: 1\.20 % of 20,000 sends failed/);
    expect(report).toContain('→ look for OOM in the log of Redis');
    expect(report).toMatch(/warn {2}order-effect/);
  });

  it('says how many messages were lost and where they are', () => {
    const base = resultFixture();
    const where = { ...ledgerFixture().where, deadLettered: 3, pending: 4 };
    const lossy = variantSummaryFixture('stream-group batch=100', 36_000, {
      ledger: ledgerFixture({ delivered: 19_990, lost: 10, duplicated: 2, unknown: 1, where }),
    });
    const report = flat(
      render({
        summary: {
          ...base.summary,
          variants: base.summary.variants.map((summary) => (summary.name === lossy.name ? lossy : summary)),
        },
      }),
    );
    expect(report).toContain(
      '10 acknowledged messages lost of 20,000 messages (4 pending, 3 dead lettered); 1 send without an answer',
    );
  });

  it('lists trials that are left out with the reason', () => {
    const report = flat(
      render({
        trials: [
          trialFixture('queue batch=1', 1, 1),
          failedTrialFixture('queue batch=1', 2, 'the consumer ended with code 1'),
          invalidTrialFixture('queue batch=1', 3, {
            id: 'undrained',
            status: 'fail',
            evidence: '12 messages were left after 30 s',
            remedy: '',
          }),
        ],
      }),
    );
    expect(report).toContain('2 trials of 3 are not in the figures');
    expect(report).toContain('2.1 queue batch=1: could not be made: the consumer ended with code 1');
    expect(report).toContain('3.1 queue batch=1: undrained: 12 messages were left after 30 s');
  });

  it('says how far an interrupted or failed run came', () => {
    const trials = [trialFixture('queue batch=1', 1, 1)];
    expect(render({ status: 'interrupted', trials })).toContain('INTERRUPTED  after 1 of 72 trials');
    expect(render({ status: 'failed', trials, error: 'Redis is gone' })).toContain(
      'FAILED  after 1 of 72 trials: Redis is gone',
    );
  });

  it('renders a run that ended before its first trial', () => {
    const summary = { findings: [], variants: [], noiseFloor: [], comparisons: [] };
    const report = render({ status: 'interrupted', trials: [], validity: [], summary });
    expect(report).toContain('None: no trial could be measured.');
    expect(report).toContain('Reproduce');
  });

  it('leaves percentiles out that have too few samples, and says so', () => {
    const base = resultFixture();
    const percentiles = {
      endToEnd: { count: 5000, p50: 1_000_000, p99: null, p999: null, max: 3_000_000, unit: 'ns' as const },
    };
    const variants = base.summary.variants.map((summary) => ({ ...summary, percentiles }));
    expect(render({ summary: { ...base.summary, variants } })).toContain('fewer than 100 samples');
  });

  it('shows further histograms in tables of their own', () => {
    const base = resultFixture();
    const variants = base.summary.variants.map((summary) => ({
      ...summary,
      percentiles: {
        ...summary.percentiles,
        serviceTime: { count: 9, p50: 777_000, p99: null, p999: null, max: 888_000, unit: 'ns' as const },
      },
    }));
    const report = render({ summary: { ...base.summary, variants } });
    expect(report).toMatch(/service time +p50/);
    expect(report).toContain('777 µs');
  });

  it('takes out of evidence what could steer the terminal', () => {
    const evil = failedTrialFixture('queue batch=1', 1, '\u001b[2Jgone\r\n\u0007next');
    expect(render({ trials: [evil] })).toContain('could not be made: gone next');
  });
});
