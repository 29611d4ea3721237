import { describe, expect, it } from 'vitest';
import { messaging } from '../../../src/experiments/messaging.js';
import { makePlan } from '../../../src/runner/plan.js';

const raw = { patterns: 'queue,pubsub', batch: '1,100' };

async function planOf(precision: 'quick' | 'custom', seed = 7) {
  const options = await messaging.parse(raw, { precision, temporaryFolder: '/tmp', redis: {} });
  return makePlan(messaging, options, {
    rounds: 4,
    precision,
    seed,
    margin: 0.03,
    command: 'weir run messaging',
  });
}

describe('a plan', () => {
  it('has every combination once, and a copy of the baseline in every group', async () => {
    const { variants, order } = await planOf('custom');
    expect(variants.map(({ name, group, role }) => [name, group, role])).toEqual([
      ['queue batch=1', 'batch=1', 'baseline'],
      ['queue batch=1 (A/A)', 'batch=1', 'a-a'],
      ['pubsub batch=1', 'batch=1', 'candidate'],
      ['queue batch=100', 'batch=100', 'baseline'],
      ['queue batch=100 (A/A)', 'batch=100', 'a-a'],
      ['pubsub batch=100', 'batch=100', 'candidate'],
    ]);
    for (const round of order) expect([...round].sort()).toEqual(variants.map(({ name }) => name).sort());
  });

  it('of a quick run has one copy, in the last group', async () => {
    const { variants } = await planOf('quick');
    expect(variants.filter(({ role }) => role === 'a-a').map(({ group }) => group)).toEqual(['batch=100']);
  });

  it('is the same for the same seed and another for another', async () => {
    expect(await planOf('custom')).toEqual(await planOf('custom'));
    expect((await planOf('custom', 8)).sha256).not.toBe((await planOf('custom')).sha256);
  });
});
