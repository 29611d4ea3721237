import type {
  Comparison,
  Environment,
  Ledger,
  RedisFigures,
  Result,
  Trial,
  Validity,
  Variant,
  VariantSummary,
} from '../../src/measure/result.js';
import { RESULT_SCHEMA_ID } from '../../src/measure/result.js';

/**
 * A result written by hand, for tests of what reads results: two patterns at two batch sizes, 12 rounds, all
 * well. Each test changes what it is about: `resultFixture({ status: 'interrupted' })`.
 */
export function resultFixture(changes: Partial<Result> = {}): Result {
  const plan = planFixture();
  return {
    schema: RESULT_SCHEMA_ID,
    id: '20261130-142530-k3v9',
    experiment: 'messaging',
    startedAt: '2026-11-30T14:25:30.000Z',
    finishedAt: '2026-11-30T14:27:10.000Z',
    status: 'completed',
    plan,
    environment: ENVIRONMENT,
    trials: plan.order.flatMap((names, round) =>
      names.map((name, position) => trialFixture(name, round + 1, position + 1)),
    ),
    summary: {
      findings: [
        'stream-group batch=100 is 1.34 times as fast as queue batch=100; no message was lost by any pattern.',
        'At batch 1 the patterns cannot be told apart on this machine.',
      ],
      variants: VARIANTS.map(({ name, role }) => variantSummaryFixture(name, THROUGHPUT[role])),
      noiseFloor: GROUPS.map((group) => ({
        group,
        metric: 'throughput',
        ratio: 1.004,
        ci95: [0.988, 1.021],
        halfWidth: 0.0165,
      })),
      comparisons: [
        comparisonFixture({
          group: 'batch=1',
          baseline: 'queue batch=1',
          candidate: 'stream-group batch=1',
          ratio: 1.01,
          ci95: [0.99, 1.03],
          verdict: 'tie',
          sentence: 'stream-group batch=1 and queue batch=1 are equal within 3 %: 1.01 times [0.990, 1.03].',
        }),
        comparisonFixture({}),
      ],
    },
    validity: [
      { id: 'ledger-balance', status: 'pass', evidence: 'all 72 ledgers balance', remedy: '' },
      { id: 'noise-floor', status: 'pass', evidence: 'A/A interval is 3.3 % wide', remedy: '' },
    ],
    ...changes,
  };
}

const THROUGHPUT = { baseline: 30_000, candidate: 40_200, 'a-a': 30_120 } as const satisfies Record<
  Variant['role'],
  number
>;

const GROUPS = ['batch=1', 'batch=100'] as const;

const VARIANTS: readonly Variant[] = [1, 100].flatMap((batch) => {
  const group = `batch=${batch}`;
  return [
    {
      name: `queue ${group}`,
      factors: { pattern: 'queue', batch },
      group,
      role: 'baseline' as const,
    },
    {
      name: `stream-group ${group}`,
      factors: { pattern: 'stream-group', batch },
      group,
      role: 'candidate' as const,
    },
    { name: `queue ${group} (A/A)`, factors: { pattern: 'queue', batch }, group, role: 'a-a' as const },
  ];
});

export function planFixture(changes: Partial<Result['plan']> = {}): Result['plan'] {
  const rounds = changes.rounds ?? 12;
  return {
    question: 'Which messaging pattern hands messages over fastest, and what does it lose?',
    factors: { pattern: ['queue', 'stream-group'], batch: [1, 100] },
    variants: [...VARIANTS],
    workload: { mode: 'capacity', messages: 20_000, payloadBytes: 100, store: 'none', rate: null },
    rounds,
    precision: 'default',
    seed: 7,
    order: Array.from({ length: rounds }, () => VARIANTS.map((variant) => variant.name)),
    margin: 0.03,
    command: 'weir run messaging --patterns queue,stream-group --batch 1,100 --messages 20000 --seed 7',
    sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    ...changes,
  };
}

export function ledgerFixture(changes: Partial<Ledger> = {}): Ledger {
  return {
    attempted: 20_000,
    acknowledged: 20_000,
    failed: 0,
    unknown: 0,
    delivered: 20_000,
    duplicated: 0,
    outOfOrder: 0,
    unexpected: 0,
    recovered: 0,
    lost: 0,
    where: { inList: 0, inProcessing: 0, unread: 0, pending: 0, trimmed: 0, deadLettered: 0 },
    ...changes,
  };
}

export function variantSummaryFixture(
  name: string,
  throughput: number,
  changes: Partial<VariantSummary> = {},
): VariantSummary {
  return {
    name,
    metrics: {
      throughput: {
        median: throughput,
        ci95: [throughput * 0.986, throughput * 1.013],
        unit: 'msg/s',
        n: 12,
      },
    },
    percentiles: {
      endToEnd: {
        count: 240_000,
        p50: 1_234_000,
        p99: 4_560_000,
        p999: 9_870_000,
        max: 20_100_000,
        unit: 'ns',
      },
    },
    ledger: ledgerFixture({ attempted: 240_000, acknowledged: 240_000, delivered: 240_000 }),
    trials: { measured: 12, invalid: 0, failed: 0 },
    outliers: [],
    limitedBy: { role: 'redis', evidence: 'redis 0.97 of a core, producer 0.41, consumer 0.52' },
    ...changes,
  };
}

export function comparisonFixture(changes: Partial<Comparison>): Comparison {
  return {
    metric: 'throughput',
    group: 'batch=100',
    baseline: 'queue batch=100',
    candidate: 'stream-group batch=100',
    ratio: 1.34,
    ci95: [1.3, 1.38],
    pairs: 12,
    margin: 0.03,
    pValue: 0.000488,
    roundsNeeded: null,
    verdict: 'faster',
    sentence: 'stream-group batch=100 is 1.34 times as fast as queue batch=100 [1.30, 1.38].',
    ...changes,
  };
}

type MeasuredTrial = Extract<Trial, { state: 'measured' }>;

export function trialFixture(
  variant: string,
  round: number,
  position: number,
  changes: Partial<MeasuredTrial> = {},
): MeasuredTrial {
  return {
    id: `${round}.${position}`,
    variant,
    round,
    position,
    startedAt: '2026-11-30T14:25:31.000Z',
    durationMs: 1234.5,
    state: 'measured',
    metrics: { throughput: { value: 30_000, unit: 'msg/s' } },
    histograms: { endToEnd: { unit: 'ns', encoded: 'HISTFAAAAB4=', count: 20_000, negative: 0 } },
    ledger: ledgerFixture(),
    resources: {
      producer: { cpu: 0.41, eventLoop: 0.5, rssBytes: 80_000_000, rssPeakBytes: 81_000_000 },
      consumer: { cpu: 0.52, eventLoop: 0.6, rssBytes: 80_000_000, rssPeakBytes: 81_000_000 },
    },
    redis: REDIS,
    limitedBy: 'redis',
    validity: [],
    ...changes,
  };
}

export function invalidTrialFixture(variant: string, round: number, check: Validity): Trial {
  return { ...trialFixture(variant, round, 1), state: 'invalid', validity: [check] };
}

export function failedTrialFixture(variant: string, round: number, error: string): Trial {
  const { id, position, startedAt, durationMs } = trialFixture(variant, round, 1);
  return { id, variant, round, position, startedAt, durationMs, state: 'failed', error, validity: [] };
}

const REDIS: RedisFigures = {
  cpu: 0.97,
  mainThreadCpu: 0.95,
  commands: 20_400,
  connections: 5,
  connectionsMade: 4,
  netInputBytes: 3_000_000,
  netOutputBytes: 3_000_000,
  usedMemoryBytes: 2_000_000,
  commandstats: { xadd: { calls: 20_000, usec: 50_000, failedCalls: 0, rejectedCalls: 0 } },
};

const ENVIRONMENT: Environment = {
  weir: '0.1.0',
  node: 'v20.20.2',
  clients: { 'node-redis': '6.3.1' },
  server: {
    software: 'redis',
    version: '7.0.15',
    runId: '0123456789abcdef0123456789abcdef01234567',
    managed: true,
    address: 'redis://127.0.0.1:40123',
    config: { appendonly: 'no', save: '', 'maxmemory-policy': 'noeviction' },
  },
  cpu: { model: 'AMD EPYC 7B13', count: 2, speedMHz: 2450 },
  memoryBytes: 25_278_000_000,
  loadAverage: [0.4, 0.3, 0.2],
  platform: 'linux',
  kernel: '6.1.0-28-cloud-amd64',
  pingNs: { median: 41_000, p99: 98_000 },
};
