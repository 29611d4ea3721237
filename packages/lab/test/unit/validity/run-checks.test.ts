import { describe, expect, it } from 'vitest';
import type { NoiseFloor, Result, Trial } from '../../../src/measure/result.js';
import type { Check } from '../../../src/validity/check.js';
import { environmentChanged } from '../../../src/validity/environment-changed.js';
import { failedOperations } from '../../../src/validity/failed-operations.js';
import { generatorLimited } from '../../../src/validity/generator-limited.js';
import { ledgerBalance } from '../../../src/validity/ledger-balance.js';
import { loadChecks } from '../../../src/validity/load-checks.js';
import { noValidTrial } from '../../../src/validity/no-valid-trial.js';
import { noiseFloor } from '../../../src/validity/noise-floor.js';
import { orderEffect } from '../../../src/validity/order-effect.js';
import { ledgerFixture, resultFixture, trialFixture } from '../../support/result-fixture.js';
import { simulateRun, THROUGHPUT } from '../../support/simulated-run.js';

function finding(check: Check, changes: Partial<Result> = {}, environmentChanges: readonly string[] = []) {
  return check.run?.({ result: resultFixture(changes), metrics: [THROUGHPUT], environmentChanges });
}

it('every check of METHOD that this version has is registered under its file name', async () => {
  expect([...(await loadChecks()).keys()]).toEqual([
    'declared-vs-observed',
    'environment-changed',
    'failed-operations',
    'generator-limited',
    'ledger-balance',
    'leftover-state',
    'littles-law',
    'missed-schedule',
    'no-steady-state',
    'no-valid-trial',
    'noise-floor',
    'order-effect',
    'short-trial',
    'undrained',
  ]);
});

describe('failed-operations', () => {
  it('looks at the whole run: one bad trial of many does not make it invalid, many do', () => {
    const bad = trialFixture('queue batch=100', 1, 1, {
      ledger: ledgerFixture({ acknowledged: 19_900, failed: 100, delivered: 19_900 }),
    });
    const good = Array.from({ length: 9 }, (_, index) => trialFixture('queue batch=100', index + 2, 1));
    expect(finding(failedOperations, { trials: [bad, ...good] })?.status).toBe('pass');
    expect(finding(failedOperations, { trials: [bad, bad, bad] })?.status).toBe('fail');
    expect(finding(failedOperations, { trials: [] })).toBeUndefined();
  });
});

describe('ledger-balance', () => {
  it('makes the run invalid when one trial does not balance', () => {
    const check = { id: 'ledger-balance', status: 'fail', evidence: '', remedy: '' } as const;
    const broken: Trial = { ...trialFixture('queue batch=100', 2, 3), state: 'invalid', validity: [check] };
    expect(finding(ledgerBalance)?.status).toBe('pass');
    expect(finding(ledgerBalance, { trials: [trialFixture('queue batch=100', 1, 1), broken] })).toMatchObject(
      {
        status: 'fail',
        evidence: 'the ledger does not balance in 1 of 2 trials: 2.3',
      },
    );
    expect(ledgerBalance).not.toHaveProperty('takesAway');
  });
});

describe('generator-limited', () => {
  const warned = { id: 'generator-limited', status: 'warn', evidence: '', remedy: '' } as const;
  const trials = (limited: number) =>
    Array.from({ length: 8 }, (_, index) =>
      trialFixture('queue batch=100', index + 1, 1, index < limited ? { validity: [warned] } : {}),
    );

  it('takes the ranking away, and only that, when most trials of a variant were limited', () => {
    expect(generatorLimited.takesAway).toBe('ranking');
    expect(finding(generatorLimited, { trials: trials(4) })?.status).toBe('pass');
    expect(finding(generatorLimited, { trials: trials(5) })).toMatchObject({
      status: 'fail',
      evidence: expect.stringContaining('queue batch=100 (5 of 8 trials)'),
    });
  });
});

describe('noise-floor', () => {
  const withFloor = (ci95: NoiseFloor['ci95'], ratio = 1) => {
    const { summary } = resultFixture();
    const floor = { group: 'batch=1', metric: 'throughput', ratio, ci95, halfWidth: 0 };
    return finding(noiseFloor, { summary: { ...summary, noiseFloor: [floor] } });
  };

  it('passes a narrow interval, warns of a wide one', () => {
    expect(withFloor([0.96, 1.05])?.status).toBe('pass');
    expect(withFloor([0.9, 1.1])?.status).toBe('warn');
    expect(withFloor(null)?.status).toBe('warn');
  });

  it('takes the ranking away when identical copies are told apart', () => {
    expect(withFloor([1.01, 1.05], 1.03)?.status).toBe('pass');
    expect(withFloor([1.04, 1.08], 1.06)?.status).toBe('fail');
    expect(withFloor([0.9, 0.95], 0.92)?.status).toBe('fail');
    expect(noiseFloor.takesAway).toBe('ranking');
  });

  it('does not apply without a second copy', () => {
    const { summary } = resultFixture();
    expect(finding(noiseFloor, { summary: { ...summary, noiseFloor: [] } })).toBeUndefined();
  });
});

describe('environment-changed', () => {
  it('makes the run invalid when the environment at the end is another', () => {
    expect(finding(environmentChanged)?.status).toBe('pass');
    expect(finding(environmentChanged, {}, ['CPU count was 2 and is 1'])).toMatchObject({
      status: 'fail',
      evidence: 'CPU count was 2 and is 1',
    });
  });
});

describe('order-effect', () => {
  /** A run whose figures fall by `slope` from one position to the next. */
  const run = (seed: number, slope: number) => {
    const { plan, trials } = simulateRun({ seed, rounds: 12, speeds: [1, 1.5, 0.7], variation: 0.03 });
    const shifted = trials.map((trial) =>
      trial.state === 'measured'
        ? {
            ...trial,
            metrics: {
              throughput: {
                value: (trial.metrics.throughput?.value ?? 0) * (1 - slope * trial.position),
                unit: 'msg/s',
              },
            },
          }
        : trial,
    );
    return finding(orderEffect, { plan, trials: shifted });
  };

  it('finds what the position explains', () => {
    expect(run(1, 0.03)).toMatchObject({
      status: 'warn',
      evidence: expect.stringContaining('throughput: p = 0.000'),
    });
  });

  it('warns of nothing in about one run in a hundred', () => {
    let warned = 0;
    const runs = 50;
    for (let seed = 1; seed <= runs; seed++) if (run(seed, 0)?.status === 'warn') warned++;
    expect(warned).toBeLessThanOrEqual(3);
  }, 60_000);

  it('does not apply to a few rounds', () => {
    const { plan, trials } = simulateRun({ seed: 1, rounds: 3, speeds: [1, 1], variation: 0.03 });
    expect(finding(orderEffect, { plan, trials: [...trials] })).toBeUndefined();
  });

  it('gives the same answer each time', () => {
    expect(run(3, 0.01)).toEqual(run(3, 0.01));
  });
});

describe('no-valid-trial', () => {
  it('makes the run invalid when a variant has no trial that counts, and says why', () => {
    const check = { id: 'undrained', status: 'fail', evidence: '', remedy: '' } as const;
    const { plan } = resultFixture();
    const measured = plan.variants.map(({ name }, index) => trialFixture(name, 1, index + 1));
    expect(finding(noValidTrial, { trials: measured })?.status).toBe('pass');
    const [first, ...rest] = measured;
    const trials: Trial[] =
      first === undefined ? rest : [{ ...first, state: 'invalid', validity: [check] }, ...rest];
    expect(finding(noValidTrial, { trials })).toMatchObject({
      status: 'fail',
      evidence: `no trial counts of ${plan.variants[0]?.name}: undrained`,
    });
    expect(finding(noValidTrial, { trials, status: 'interrupted' })).toBeUndefined();
  });

  it('lets the others stand when only the load of a variant could not be made, and not when something else failed', () => {
    const missed = { id: 'missed-schedule', status: 'fail', evidence: '', remedy: '' } as const;
    const failed = { id: 'failed-operations', status: 'fail', evidence: '', remedy: '' } as const;
    const { plan } = resultFixture();
    const measured = plan.variants.map(({ name }, index) => trialFixture(name, 1, index + 1));
    const leaveOutFirst = (validity: Trial['validity']): Trial[] =>
      measured.map((trial, index) => (index === 0 ? { ...trial, state: 'invalid', validity } : trial));
    expect(finding(noValidTrial, { trials: leaveOutFirst([missed]) })).toMatchObject({
      status: 'warn',
      evidence: `the load of ${plan.variants[0]?.name} could not be made, so nothing is said of it; the others stand`,
    });
    expect(finding(noValidTrial, { trials: leaveOutFirst([missed, failed]) })?.status).toBe('fail');
    const none = measured.map((trial): Trial => ({ ...trial, state: 'invalid', validity: [missed] }));
    expect(finding(noValidTrial, { trials: none })?.status).toBe('fail');
  });
});
