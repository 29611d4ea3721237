import { expect, it } from 'vitest';
import { exitCodeOf } from '../../../src/cli/exit-code.js';
import type { Check } from '../../../src/validity/check.js';
import { resultFixture } from '../../support/result-fixture.js';

const CHECKS: ReadonlyMap<string, Check> = new Map([
  ['failed-operations', { name: 'failed-operations', summary: '' }],
  ['generator-limited', { name: 'generator-limited', summary: '', takesAway: 'ranking' }],
]);

/** As the first trial of a run, with a promise that was not kept. */
const broken = resultFixture().trials.map((trial, index) =>
  index > 0 || trial.state === 'failed'
    ? trial
    : { ...trial, guarantee: { state: 'broken' as const, promise: 'nothing lost', broken: ['1 lost'] } },
);
const failing = (id: string) => [{ id, status: 'fail' as const, evidence: '', remedy: '' }];

it.each([
  ['completed', {}, 0],
  ['interrupted', { status: 'interrupted' as const }, 130],
  ['of a lost Redis', { status: 'failed' as const, error: 'Redis at redis://127.0.0.1:1 is gone: x' }, 69],
  ['failed otherwise', { status: 'failed' as const, error: 'the consumer ended' }, 70],
  ['invalid', { validity: failing('failed-operations') }, 3],
  ['failing a check nobody knows', { validity: failing('made-up') }, 3],
  ['broken in one guarantee', { trials: broken }, 1],
  ['broken and invalid', { trials: broken, validity: failing('made-up') }, 3],
  ['valid without a ranking', { validity: failing('generator-limited') }, 0],
])('a run that is %s', (_, changes, code) => {
  expect(exitCodeOf(resultFixture(changes), CHECKS)).toBe(code);
});
