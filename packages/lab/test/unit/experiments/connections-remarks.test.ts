import { beforeAll, describe, expect, it } from 'vitest';
import type { ConnectionsOptions } from '../../../src/experiments/connections/options.js';
import { connectionsRemarks } from '../../../src/experiments/connections/remarks.js';
import { connections } from '../../../src/experiments/connections.js';
import { emptyLedger } from '../../../src/measure/ledger.js';
import type { Plan, Summary } from '../../../src/measure/result.js';
import { makePlan } from '../../../src/runner/plan.js';

type Medians = Readonly<Record<string, number>>;

let sweep: ConnectionsOptions;
let closed: ConnectionsOptions;
beforeAll(async () => {
  const common = { precision: 'quick', temporaryFolder: '/nowhere', redis: {} } as const;
  const raw = { strategy: 'pool,multiplexed', pool: '8', users: '20' };
  closed = await connections.parse(raw, common);
  sweep = await connections.parse(
    { ...raw, strategy: 'multiplexed', pool: undefined, rateSweep: '100,200,400' },
    common,
  );
});

function planOf(options: ConnectionsOptions): Plan {
  return makePlan<ConnectionsOptions>(connections, options, {
    ...{ rounds: 8, precision: 'quick', seed: 7, margin: 0.03, command: 'weir run connections' },
  });
}

/** A summary with these medians by variant; variants that are not named have no figures. */
function summaryOf(plan: Plan, medians: Readonly<Record<string, Medians>>): Summary {
  return {
    ...{ findings: [], noiseFloor: [], comparisons: [] },
    variants: plan.variants.map(({ name }) => ({
      name,
      metrics: Object.fromEntries(
        Object.entries(medians[name] ?? {}).map(([metric, median]) => [
          metric,
          { median, ci95: null, unit: '1', n: 8 },
        ]),
      ),
      ...{ percentiles: {}, ledger: emptyLedger(), outliers: [] },
      trials: { measured: 8, invalid: 0, failed: 0 },
      limitedBy: { role: 'app', evidence: '' },
    })),
  };
}

function remarks(options: ConnectionsOptions, medians: Readonly<Record<string, Medians>>): string[] {
  const plan = planOf(options);
  return connectionsRemarks(summaryOf(plan, medians), options, plan);
}

describe('remarks on connections', () => {
  it('explain a strategy that costs Redis more than twice as much', () => {
    const work = { connectionsPerRequest: 0, commandsPerRequest: 1 };
    expect(
      remarks(closed, {
        'pool-8': { throughput: 1, redisCpuPerRequest: 50_000, ...work, readsPerRequest: 1 },
        multiplexed: { throughput: 1, redisCpuPerRequest: 10_000, ...work, readsPerRequest: 0.1 },
      }),
    ).toEqual([
      'pool-8 costs Redis 50.0 µs of CPU time a request, 5.00 times as much as multiplexed: ' +
        '0 new connections, 1.00 commands, 1.00 reads a request against 0 new connections, 1.00 commands, 0.100 reads a request',
    ]);
  });

  it('say that strategies cost Redis about the same', () => {
    expect(
      remarks(closed, {
        'pool-8': { throughput: 1, redisCpuPerRequest: 19_000 },
        multiplexed: { throughput: 1, redisCpuPerRequest: 10_000 },
      }),
    ).toEqual([expect.stringContaining('within a factor of 2 of 10.0 µs (multiplexed)')]);
  });

  const at = (rate: number): string => `multiplexed rate=${rate}`;
  const answering = (throughput: number, latencyP50: number): Medians => ({ throughput, latencyP50 });

  it('find the knee of a sweep between the last rate that is answered and the first that is not', () => {
    expect(
      remarks(sweep, {
        [at(100)]: answering(100, 1e6),
        [at(200)]: answering(199, 2e6),
        [at(400)]: answering(250, 9e8),
      }),
    ).toEqual([
      'multiplexed over node-redis answers 200 requests per second (median 2.00 ms) and falls behind at ' +
        '400 requests per second (median 900 ms): the knee lies between',
    ]);
  });

  it('claim no knee that was not seen', () => {
    const first = { [at(100)]: answering(100, 1e6), [at(200)]: answering(200, 2e6) };
    expect(remarks(sweep, { ...first, [at(400)]: answering(400, 3e6) })).toEqual([
      expect.stringContaining('the highest rate of the sweep: its knee lies beyond'),
    ]);
    expect(remarks(sweep, first)).toEqual([
      expect.stringContaining('at 400 requests per second no trial counts, so the knee was not seen'),
    ]);
    expect(remarks(sweep, { [at(100)]: answering(50, 1e9) })).toEqual([
      expect.stringContaining('does not answer even 100 requests per second'),
    ]);
  });

  it('say that the machine bears fewer users than were published', () => {
    expect(remarks({ ...closed, users: 300, usersWanted: 740 }, {})).toEqual([
      expect.stringContaining('the load was 300 users, not the 740 of the publication'),
    ]);
  });
});
