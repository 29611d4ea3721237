import { z } from 'zod';

/**
 * The stored result, version 1. The JSON Schema that ships with the package is generated from this file
 * (`schema/result.schema.json`, `npm run build:schema`), so the two cannot disagree.
 */
export const RESULT_SCHEMA_ID = 'weir.result/1';

const finite = z.number();
const count = z.int().nonnegative();

export const Quantity = z.object({
  value: finite.describe('The figure, in `unit`.'),
  unit: z.string().describe('Unit: msg/s, ns, B, 1 (a ratio) ...'),
});
export type Quantity = z.infer<typeof Quantity>;

export const Interval = z.tuple([finite, finite]).describe('Low and high end.');
export type Interval = z.infer<typeof Interval>;

/** Every message has exactly one fate: attempted = acknowledged + failed + unknown; acknowledged + unknown that arrived are delivered or lost. */
export const Ledger = z.object({
  attempted: count.describe('Messages the producers tried to send.'),
  acknowledged: count.describe('Redis confirmed the send.'),
  failed: count.describe('Redis refused the send, or nothing was sent.'),
  unknown: count.describe('Written, and the answer never came.'),
  delivered: count.describe('Distinct attempted messages whose handler succeeded at least once.'),
  duplicated: count.describe('Extra deliveries of messages already handled.'),
  outOfOrder: count.describe('Deliveries behind a later message of the same producer at the same consumer.'),
  unexpected: count.describe('Handled messages that no producer of this trial sent.'),
  recovered: count.describe('Failed or unknown sends that were delivered after all.'),
  lost: count.describe('Acknowledged and not delivered when the trial ended.'),
  where: z
    .object({
      inList: count.describe('Still in the list.'),
      inProcessing: count.describe('In a processing list.'),
      unread: count.describe('In the stream, not read.'),
      pending: count.describe('Read, not acknowledged.'),
      trimmed: count.describe('Removed by trimming before it was handled.'),
      deadLettered: count.describe('Given up and kept aside.'),
    })
    .describe('Where Redis says the undelivered messages are.'),
});
export type Ledger = z.infer<typeof Ledger>;

export const Validity = z.object({
  id: z.string().describe('Name of the check.'),
  status: z.enum(['pass', 'warn', 'fail']),
  evidence: z.string().describe('What was seen, with figures.'),
  remedy: z.string().describe('What the user can do; empty when passed.'),
});
export type Validity = z.infer<typeof Validity>;

export const Resources = z.object({
  cpu: finite.nonnegative().describe('Cores used, on average over the measured window: 1 is one core.'),
  eventLoop: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Event-loop utilisation; null where there is none.'),
  rssBytes: count.describe('Resident memory at the end of the window.'),
  rssPeakBytes: count.describe('Largest resident memory seen.'),
  storeShare: z.number().min(0).max(1).optional().describe('Share of the window spent inside the store.'),
});
export type Resources = z.infer<typeof Resources>;

export const RedisFigures = z.object({
  cpu: finite.nonnegative().describe('Cores used by the main thread and others over the window (INFO cpu).'),
  mainThreadCpu: finite
    .nonnegative()
    .nullable()
    .describe('Cores used by the main thread; null before Redis 6.2.'),
  commands: count.describe('Commands processed during the window (INFO stats).'),
  connections: count.describe('Clients connected at the end of the window.'),
  connectionsMade: count.describe('Connections accepted during the window.'),
  netInputBytes: count,
  netOutputBytes: count,
  usedMemoryBytes: count.describe('At the end of the window.'),
  commandstats: z
    .record(z.string(), z.object({ calls: count, usec: count, failedCalls: count, rejectedCalls: count }))
    .describe('INFO commandstats: change over the window, by lower-case command.'),
});
export type RedisFigures = z.infer<typeof RedisFigures>;

export const Histogram = z.object({
  unit: z.literal('ns'),
  encoded: z.string().describe('HdrHistogram V2, compressed, base64.'),
  count: count.describe('Samples recorded.'),
  negative: count.describe('Samples below zero: recorded as 0 and counted here.'),
});
export type Histogram = z.infer<typeof Histogram>;

export const Factors = z.record(z.string(), z.union([z.string(), z.number(), z.boolean()]));
export type Factors = z.infer<typeof Factors>;

export const Variant = z.object({
  name: z.string(),
  factors: Factors,
  group: z
    .string()
    .describe('Variants are compared within a group: all that share it differ in the first factor only.'),
  role: z
    .enum(['baseline', 'candidate', 'a-a'])
    .describe('a-a is a second copy of the baseline of its group; it measures the noise.'),
});
export type Variant = z.infer<typeof Variant>;

export const Plan = z.object({
  question: z.string(),
  factors: z.record(z.string(), z.array(z.union([z.string(), z.number(), z.boolean()]))),
  variants: z.array(Variant),
  workload: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
  rounds: z.int().positive(),
  precision: z.enum(['quick', 'default', 'thorough', 'custom']),
  seed: z.int().nonnegative(),
  order: z
    .array(z.array(z.string()))
    .describe('Names of the variants, round by round, in the order they run.'),
  margin: finite.nonnegative().describe('Smallest ratio that counts as a difference: 0.03 is 3 %.'),
  command: z.string().describe('Command line that repeats this run.'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('Of the plan without this field, keys sorted.'),
});
export type Plan = z.infer<typeof Plan>;

export const Environment = z.object({
  weir: z.string(),
  node: z.string(),
  clients: z.record(z.string(), z.string()).describe('Version by client library.'),
  server: z.object({
    software: z.string().describe('redis or valkey'),
    version: z.string(),
    runId: z.string(),
    managed: z.boolean().describe('True when weir started it.'),
    address: z.string().describe('Without a password.'),
    config: z.record(z.string(), z.string()).describe('CONFIG that matters; empty when it may not be read.'),
  }),
  cpu: z.object({ model: z.string(), count: z.int().positive(), speedMHz: count }),
  memoryBytes: count,
  loadAverage: z.tuple([finite, finite, finite]),
  platform: z.string(),
  kernel: z.string(),
  pingNs: z.object({ median: finite, p99: finite }).describe('Round trip of PING before the run.'),
});
export type Environment = z.infer<typeof Environment>;

export const LimitedBy = z
  .enum(['producer', 'redis', 'consumer', 'store', 'app', 'machine', 'none'])
  .describe(
    'What set the pace. `app`: the web app under load. `machine`: every core was busy. `none`: nothing was, the load was paced.',
  );
export type LimitedBy = z.infer<typeof LimitedBy>;

export const Guarantee = z.object({
  state: z.enum(['kept', 'broken']),
  promise: z.string().describe('What the pattern promises under this fault, in words.'),
  broken: z.array(z.string()).describe('What it did not keep, with figures; empty when all was kept.'),
});
export type Guarantee = z.infer<typeof Guarantee>;

const trialHead = {
  id: z.string().describe('Unique in the run: `<round>.<position>`.'),
  variant: z.string(),
  round: z.int().positive(),
  position: z.int().positive().describe('Place within the round, from 1.'),
  startedAt: z.iso.datetime(),
  durationMs: finite.nonnegative().describe('Wall time of the whole trial, set-up included.'),
};
const trialFigures = {
  metrics: z.record(z.string(), Quantity),
  histograms: z.record(z.string(), Histogram),
  ledger: Ledger,
  resources: z.record(z.string(), Resources).describe('By role: producer, consumer (sums over processes).'),
  redis: RedisFigures,
  limitedBy: LimitedBy,
  guarantee: Guarantee.optional().describe(
    'Only of a trial with a fault: what was promised, and whether it was kept.',
  ),
  validity: z.array(Validity),
};
export const Trial = z.discriminatedUnion('state', [
  z.object({ ...trialHead, state: z.literal('measured'), ...trialFigures }),
  z.object({ ...trialHead, state: z.literal('invalid'), ...trialFigures }),
  z.object({ ...trialHead, state: z.literal('failed'), error: z.string(), validity: z.array(Validity) }),
]);
export type Trial = z.infer<typeof Trial>;
export type CompletedTrial = Exclude<Trial, { state: 'failed' }>;

export const Verdict = z.enum(['faster', 'slower', 'tie', 'small', 'inconclusive', 'none']);
export type Verdict = z.infer<typeof Verdict>;

export const Estimate = z.object({
  median: finite,
  ci95: Interval.nullable().describe(
    '95 % interval of the median from order statistics; null below 6 trials.',
  ),
  unit: z.string(),
  n: count.describe('Trials it rests on.'),
});
export type Estimate = z.infer<typeof Estimate>;

export const VariantSummary = z.object({
  name: z.string(),
  metrics: z.record(z.string(), Estimate),
  percentiles: z
    .record(
      z.string(),
      z.object({
        count,
        p50: finite.nullable(),
        p99: finite.nullable(),
        p999: finite.nullable(),
        max: finite.nullable(),
        unit: z.literal('ns'),
      }),
    )
    .describe('Of the merged histograms; null with fewer than 100 samples beyond the percentile.'),
  ledger: Ledger.describe('Sum over the trials.'),
  trials: z.object({ measured: count, invalid: count, failed: count }),
  outliers: z.array(z.string()).describe('Ids of trials far from the rest (flagged, never dropped).'),
  limitedBy: z.object({
    role: z.enum([...LimitedBy.options, 'mixed']),
    evidence: z.string(),
  }),
});
export type VariantSummary = z.infer<typeof VariantSummary>;

export const NoiseFloor = z.object({
  group: z.string(),
  metric: z.string(),
  ratio: finite.describe('A/A ratio, estimate.'),
  ci95: Interval.nullable(),
  halfWidth: finite.nullable().describe('Half-width of the interval: differences below it are noise.'),
});
export type NoiseFloor = z.infer<typeof NoiseFloor>;

export const Comparison = z.object({
  metric: z.string(),
  group: z.string(),
  baseline: z.string(),
  candidate: z.string(),
  ratio: finite.nullable().describe('candidate / baseline; null without pairs.'),
  ci95: Interval.nullable().describe('Holm-adjusted interval of the ratio; null when none exists.'),
  pairs: count.describe('Rounds in which both were measured.'),
  margin: finite.describe('The margin used: max(asked for, 3 %, A/A half-width).'),
  pValue: finite.nullable().describe('Two-sided exact Wilcoxon signed-rank, not adjusted.'),
  roundsNeeded: count.nullable().describe('Rounds it would take; only when inconclusive.'),
  verdict: Verdict,
  sentence: z.string(),
});
export type Comparison = z.infer<typeof Comparison>;

export const AsPublished = z.object({
  method: z.string().describe('How the figures were made, in one sentence.'),
  unit: z.string(),
  rows: z.array(
    z.object({
      variant: z.string(),
      published: finite
        .nullable()
        .describe('What the publication says; null for a variant it does not have.'),
      replayed: finite.describe('The published method, once, on this machine.'),
      measured: finite.nullable().describe('The same variant in this run: median of its trials.'),
    }),
  ),
  sentences: z
    .array(z.string())
    .describe('What the published method would say, and what this run says instead.'),
});
export type AsPublished = z.infer<typeof AsPublished>;

export const Summary = z.object({
  findings: z.array(z.string()).describe('What a reader should take away, most important first.'),
  variants: z.array(VariantSummary),
  noiseFloor: z.array(NoiseFloor),
  comparisons: z.array(Comparison),
  asPublished: AsPublished.optional().describe(
    'The published method beside this one, when it was asked for.',
  ),
});
export type Summary = z.infer<typeof Summary>;

export const Result = z.object({
  schema: z.literal(RESULT_SCHEMA_ID),
  id: z.string(),
  experiment: z.string(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime(),
  status: z.enum(['completed', 'interrupted', 'failed']),
  error: z.string().optional().describe('Why, when the status is failed.'),
  plan: Plan,
  environment: Environment,
  trials: z.array(Trial),
  summary: Summary,
  validity: z.array(Validity),
});
export type Result = z.infer<typeof Result>;

/** JSON Schema (draft 2020-12) of a result. */
export function resultJsonSchema(): object {
  return { $id: RESULT_SCHEMA_ID, title: 'weir result, version 1', ...z.toJSONSchema(Result) };
}
