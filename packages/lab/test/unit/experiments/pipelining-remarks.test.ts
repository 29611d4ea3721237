import { expect, it } from 'vitest';
import { parseOptions } from '../../../src/experiments/pipelining/options.js';
import { pipeliningRemarks } from '../../../src/experiments/pipelining/remarks.js';
import type { NoiseFloor, Plan, Summary } from '../../../src/measure/result.js';
import { planFixture, resultFixture, variantSummaryFixture } from '../../support/result-fixture.js';

/** Depth 2 gains 10 % over depth 1 and depth 4 nothing more, with either client. */
const RATES = new Map([
  [1, 100_000],
  [2, 110_000],
  [4, 110_000],
]);
const CLIENTS = ['node-redis', 'ioredis'];

function runWith(noiseFloor: NoiseFloor[]): { readonly plan: Plan; readonly summary: Summary } {
  const variants = CLIENTS.flatMap((client) =>
    [...RATES.keys()].map((depth) => ({
      name: `pipeline depth=${depth} client=${client}`,
      factors: { method: 'pipeline', depth, client, rtt: 0 },
      group: `client=${client}`,
      role: depth === 1 ? ('baseline' as const) : ('candidate' as const),
    })),
  );
  const summaries = variants.map(({ name, factors }) =>
    variantSummaryFixture(name, RATES.get(factors.depth) ?? 0),
  );
  const { summary } = resultFixture();
  return { plan: planFixture({ variants }), summary: { ...summary, variants: summaries, noiseFloor } };
}

function floor(client: string, halfWidth: number): NoiseFloor {
  return { group: `client=${client}`, metric: 'throughput', ratio: 1, ci95: null, halfWidth };
}

function kneesOf(noiseFloor: NoiseFloor[]): string[] {
  const { plan, summary } = runWith(noiseFloor);
  const options = parseOptions({}, { precision: 'quick', temporaryFolder: '/nowhere', redis: {} });
  return pipeliningRemarks(summary, options, plan);
}

it('a gain is held against the noise of its own group, not the widest of the run', () => {
  expect(kneesOf([floor('node-redis', 0.05), floor('ioredis', 0.2)])).toEqual([
    'pipeline over node-redis: beyond depth 2 no depth gains more than 5.00 %, the noise floor',
    'pipeline over ioredis: beyond depth 1 no depth gains more than 20.0 %, the noise floor',
  ]);
});

it('where a group has no copy of its own, as in a quick run, the noise of the run stands for it', () => {
  expect(kneesOf([floor('ioredis', 0.2)])).toEqual([
    'pipeline over node-redis: beyond depth 1 no depth gains more than 20.0 %, the noise floor',
    'pipeline over ioredis: beyond depth 1 no depth gains more than 20.0 %, the noise floor',
  ]);
});

it('no noise is taken to be less than the margin of every verdict', () => {
  const [knee] = kneesOf([floor('node-redis', 0.001), floor('ioredis', 0.001)]);
  expect(knee).toContain('3.00 %');
});
