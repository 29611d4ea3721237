import { describe, expect, it } from 'vitest';
import type { Measurement, Observations } from '../../../src/measure/measurement.js';
import type { Ledger } from '../../../src/measure/result.js';
import type { Check } from '../../../src/validity/check.js';
import { declaredVsObserved } from '../../../src/validity/declared-vs-observed.js';
import { environmentChanged } from '../../../src/validity/environment-changed.js';
import { failedOperations } from '../../../src/validity/failed-operations.js';
import { generatorLimited } from '../../../src/validity/generator-limited.js';
import { ledgerBalance } from '../../../src/validity/ledger-balance.js';
import { leftoverState } from '../../../src/validity/leftover-state.js';
import { littlesLaw } from '../../../src/validity/littles-law.js';
import { missedSchedule } from '../../../src/validity/missed-schedule.js';
import { noSteadyState } from '../../../src/validity/no-steady-state.js';
import { shortTrial } from '../../../src/validity/short-trial.js';
import { undrained } from '../../../src/validity/undrained.js';
import { ledgerFixture, trialFixture } from '../../support/result-fixture.js';

function measurement(observations: Observations, changes: Partial<Measurement> = {}): Measurement {
  return { ...trialFixture('queue batch=100', 1, 1), observations, ...changes };
}

function finding(check: Check, observations: Observations, changes: Partial<Measurement> = {}) {
  return check.trial?.(measurement(observations, changes));
}

const ledger = (changes: Partial<Ledger>) => ({ ledger: ledgerFixture(changes) });

describe('a check that knows nothing of the matter says nothing', () => {
  for (const check of [
    undrained,
    leftoverState,
    missedSchedule,
    noSteadyState,
    littlesLaw,
    declaredVsObserved,
    shortTrial,
    environmentChanged,
  ]) {
    it(check.name, () => {
      expect(finding(check, {})).toBeUndefined();
    });
  }
});

describe('failed-operations', () => {
  it('allows one failure in a thousand and no more', () => {
    expect(finding(failedOperations, {}, ledger({ acknowledged: 19_980, failed: 20 }))?.status).toBe('pass');
    const failed = finding(failedOperations, {}, ledger({ acknowledged: 19_979, failed: 20, unknown: 1 }));
    expect(failed?.status).toBe('fail');
    expect(failed?.evidence).toBe(
      '19979 of 20000 operations succeeded (99.895 %), 20 failed, 1 were never answered',
    );
  });

  it('does not take nothing for a success', () => {
    expect(finding(failedOperations, {}, ledger({ attempted: 0, acknowledged: 0 }))?.status).toBe('fail');
  });
});

describe('ledger-balance', () => {
  it('passes a ledger that balances', () => {
    expect(finding(ledgerBalance, {})?.status).toBe('pass');
    const withLoss = ledger({ delivered: 19_990, lost: 10 });
    expect(finding(ledgerBalance, {}, withLoss)?.status).toBe('pass');
  });

  it('names what does not add up, what nobody sent, and what the server counted otherwise', () => {
    const result = finding(
      ledgerBalance,
      {
        serverCounts: [
          { what: 'LPUSH calls', ledger: 20_000, server: 19_000, relation: 'exact' },
          { what: 'rows', ledger: 5, server: 4, relation: 'at-least' },
          { what: 'XADD calls', ledger: 5, server: 6, relation: 'at-least' },
        ],
      },
      ledger({ delivered: 19_990, unexpected: 2 }),
    );
    expect(result?.status).toBe('fail');
    expect(result?.evidence.split('; ')).toEqual([
      'delivered 19990 is not acknowledged 20000 - lost 0 + recovered 0',
      '2 messages were handled that nobody sent in this trial',
      'LPUSH calls: the server says 19000, the ledger 20000',
      'rows: the server says 4, the ledger at least 5',
    ]);
  });
});

describe('undrained', () => {
  it('fails when something is left or the deadline passed', () => {
    expect(finding(undrained, { leftAfterDrain: 0, drainDeadlinePassed: false })?.status).toBe('pass');
    expect(finding(undrained, { leftAfterDrain: 3 })?.evidence).toContain('3 messages were left');
    expect(finding(undrained, { leftAfterDrain: 0, drainDeadlinePassed: true })?.status).toBe('fail');
  });
});

describe('leftover-state', () => {
  it('names the keys, but not hundreds of them', () => {
    expect(finding(leftoverState, { keysAtStart: [] })?.status).toBe('pass');
    const keys = Array.from({ length: 7 }, (_, index) => `key-${index}`);
    expect(finding(leftoverState, { keysAtStart: keys })).toMatchObject({
      status: 'fail',
      evidence: '7 keys existed before the trial: key-0, key-1, key-2, key-3, key-4 and 2 more',
    });
  });
});

describe('generator-limited', () => {
  const producer = (cpu: number, eventLoop: number) => ({
    resources: { producer: { cpu, eventLoop, rssBytes: 1, rssPeakBytes: 1 } },
  });

  it('warns when the producer was the limit and saturated', () => {
    for (const busy of [producer(0.95, 0.5), producer(0.5, 0.96)]) {
      expect(finding(generatorLimited, {}, { ...busy, limitedBy: 'producer' })?.status).toBe('warn');
    }
  });

  it('passes when it had room, when others were the limit, and when it was paced', () => {
    expect(finding(generatorLimited, {}, { ...producer(0.5, 0.5), limitedBy: 'producer' })?.status).toBe(
      'pass',
    );
    expect(finding(generatorLimited, {}, { ...producer(1, 1), limitedBy: 'consumer' })?.status).toBe('pass');
    expect(
      finding(generatorLimited, { paced: true }, { ...producer(1, 1), limitedBy: 'producer' }),
    ).toBeUndefined();
  });
});

describe('missed-schedule', () => {
  const schedule = (late: number) => ({
    schedule: { sends: 10_000, late, allowanceNs: 1_000_000, worstNs: 12_300_000 },
  });

  it('passes up to 1 %, warns up to 10 %, then fails', () => {
    expect([0, 100, 101, 1000, 1001].map((late) => finding(missedSchedule, schedule(late))?.status)).toEqual([
      'pass',
      'pass',
      'warn',
      'warn',
      'fail',
    ]);
    expect(finding(missedSchedule, schedule(101))?.evidence).toBe(
      '101 of 10000 sends (1.01 %) were more than 1.00 ms late, the worst 12.3 ms',
    );
  });
});

describe('no-steady-state', () => {
  it('warns when the halves differ by more than 2 % or the warm-up never settled', () => {
    expect(finding(noSteadyState, { halves: [1000, 981] })?.status).toBe('pass');
    expect(finding(noSteadyState, { halves: [979, 1000] })?.status).toBe('warn');
    expect(finding(noSteadyState, { halves: [0, 0] })?.status).toBe('pass');
    const warmUp = { settled: false, variation: 0.08, seconds: 5 };
    expect(finding(noSteadyState, { warmUp, halves: [1000, 1000] })).toMatchObject({
      status: 'warn',
      evidence: expect.stringContaining('did not settle (last windows vary by 8.00 %)'),
    });
  });
});

describe('littles-law', () => {
  it('holds in-flight against throughput times latency', () => {
    const closedLoop = { inFlight: 740, perSecond: 31_000, meanLatencyNs: 24_000_000 };
    expect(finding(littlesLaw, { closedLoop })?.status).toBe('pass');
    // the figures that were published (MISSION 3): 740 users, 31,000 per second, 100 ms
    const published = finding(littlesLaw, { closedLoop: { ...closedLoop, meanLatencyNs: 100_000_000 } });
    expect(published?.status).toBe('warn');
    expect(published?.evidence).toBe('740 in flight; 31,000 per second x 100 ms mean latency is 3,100');
  });
});

describe('declared-vs-observed', () => {
  it('fails on the first thing that differs beyond its tolerance', () => {
    const declared = [
      { what: 'connections', declared: 4, observed: 4, tolerance: 0 },
      { what: 'messages per send', declared: 100, observed: 91, tolerance: 0.1 },
    ];
    expect(finding(declaredVsObserved, { declared })?.status).toBe('pass');
    const other = [...declared, { what: 'batch', declared: 100, observed: 1, tolerance: 0.5 }];
    expect(finding(declaredVsObserved, { declared: other })).toMatchObject({
      status: 'fail',
      evidence: 'batch 1.00, declared 100',
    });
  });
});

describe('short-trial', () => {
  it('warns below the samples of the percentile or the seconds of the mechanism', () => {
    const enough = { measuredSeconds: 2, latencySamples: 10_000, reportedPercentile: 0.99 };
    expect(finding(shortTrial, enough)?.status).toBe('pass');
    expect(finding(shortTrial, { ...enough, latencySamples: 9_999 })?.evidence).toBe(
      '2.00 s measured, 9999 latency samples: p99 needs 10000 samples',
    );
    expect(finding(shortTrial, { ...enough, secondsNeeded: 10 })?.status).toBe('warn');
    expect(finding(shortTrial, { measuredSeconds: 0.1 })?.status).toBe('warn');
  });
});

describe('environment-changed', () => {
  it('fails when the server is another one, warns when others were at work', () => {
    expect(
      finding(environmentChanged, { serverRunId: ['a', 'a'], stealShare: 0.01, otherCpu: 0.1 })?.status,
    ).toBe('pass');
    expect(finding(environmentChanged, { serverRunId: ['a', 'b'] })?.status).toBe('fail');
    expect(finding(environmentChanged, { configChanged: ['save'] })?.evidence).toContain(
      'CONFIG save was changed',
    );
    expect(finding(environmentChanged, { stealShare: 0.05 })?.status).toBe('warn');
    expect(finding(environmentChanged, { otherCpu: 0.8 })?.evidence).toContain(
      'other processes used 0.800 cores',
    );
  });
});
