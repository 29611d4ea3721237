import { median } from 'simple-statistics';
import { significant } from '../core/units.js';
import { decodeHistogram, mergeHistograms } from '../measure/histogram.js';
import { sumLedgers } from '../measure/ledger.js';
import type { MetricDefinition } from '../measure/measurement.js';
import type { Plan, Summary, Trial, VariantSummary } from '../measure/result.js';
import { medianInterval, outliers } from '../measure/statistics.js';
import { findings } from './findings.js';
import { isMeasured, type MeasuredTrial } from './pairs.js';
import { ALPHA, compareVariants, type JudgedRun } from './verdict.js';

/** Everything that is derived from the trials: figures per variant, comparisons, noise and what to take away. */
export function summarise(run: JudgedRun): Summary {
  const variants = summariseVariants(run.trials, run.plan, run.metrics);
  const { comparisons, noiseFloor } = compareVariants(run);
  return { findings: findings(run, variants, comparisons), variants, noiseFloor, comparisons };
}

/**
 * One summary per variant of the plan, in its order. Figures, ledger and outliers come from the trials that count
 * (`measured`); how many do not is told beside them.
 */
export function summariseVariants(
  trials: readonly Trial[],
  plan: Plan,
  metrics: readonly MetricDefinition[],
): VariantSummary[] {
  return plan.variants.map(({ name }) => {
    const own = trials.filter(({ variant }) => variant === name);
    const measured = own.filter(isMeasured);
    const inState = (state: Trial['state']): number => own.filter((trial) => trial.state === state).length;
    return {
      name,
      metrics: Object.fromEntries(metrics.flatMap((metric) => estimateOf(measured, metric))),
      percentiles: percentilesOf(measured),
      ledger: sumLedgers(measured.map(({ ledger }) => ledger)),
      trials: { measured: measured.length, invalid: inState('invalid'), failed: inState('failed') },
      outliers: outliersOf(measured, metrics),
      limitedBy: limitOf(measured),
    };
  });
}

type Named<T> = [name: string, value: T];

function estimateOf(
  trials: readonly MeasuredTrial[],
  { name, unit }: MetricDefinition,
): Named<VariantSummary['metrics'][string]>[] {
  const values = trials.flatMap(({ metrics }) => metrics[name]?.value ?? []);
  if (values.length === 0) return [];
  return [[name, { median: median(values), ci95: medianInterval(values, ALPHA), unit, n: values.length }]];
}

function percentilesOf(trials: readonly MeasuredTrial[]): VariantSummary['percentiles'] {
  const names = new Set(trials.flatMap(({ histograms }) => Object.keys(histograms)));
  const entries = [...names].map((name): Named<VariantSummary['percentiles'][string]> => {
    const merged = decodeHistogram(
      mergeHistograms(trials.flatMap(({ histograms }) => histograms[name] ?? [])),
    );
    return [
      name,
      {
        count: merged.count,
        p50: merged.percentile(0.5),
        p99: merged.percentile(0.99),
        p999: merged.percentile(0.999),
        max: merged.maximum,
        unit: 'ns',
      },
    ];
  });
  return Object.fromEntries(entries);
}

/** Ids of the trials that are far from the rest of their variant in a compared metric; they stay in the figures. */
function outliersOf(trials: readonly MeasuredTrial[], metrics: readonly MetricDefinition[]): string[] {
  const flagged = new Set<string>();
  for (const { name } of metrics.filter(({ compared }) => compared)) {
    const withFigure = trials.flatMap(({ id, metrics: figures }) => {
      const value = figures[name]?.value;
      return value === undefined ? [] : [{ id, value }];
    });
    const far = outliers(withFigure.map(({ value }) => value));
    withFigure.forEach(({ id }, index) => {
      if (far[index] === true) flagged.add(id);
    });
  }
  return trials.map(({ id }) => id).filter((id) => flagged.has(id));
}

/** Unless this share of the trials names the same limit, the limit is mixed. */
const CLEAR_LIMIT = 0.75;

function limitOf(trials: readonly MeasuredTrial[]): VariantSummary['limitedBy'] {
  if (trials.length === 0) return { role: 'none', evidence: 'no trial was measured' };
  const counts = new Map<MeasuredTrial['limitedBy'], number>();
  for (const { limitedBy } of trials) counts.set(limitedBy, (counts.get(limitedBy) ?? 0) + 1);
  const ranked = [...counts].sort(([, a], [, b]) => b - a);
  const [first] = ranked;
  const clear = first !== undefined && first[1] >= CLEAR_LIMIT * trials.length;
  const tally = ranked.map(([role, count]) => `${role} in ${count}`).join(', ');
  return {
    role: clear ? first[0] : 'mixed',
    evidence: `${tally} of ${trials.length} trials; ${loadOf(trials)}`,
  };
}

/** `producer 0.41 cores, event loop 45 %; consumer ...; redis main thread 0.35 cores`: medians over the trials. */
function loadOf(trials: readonly MeasuredTrial[]): string {
  const roles = new Set(trials.flatMap(({ resources }) => Object.keys(resources)));
  const workers = [...roles].map((role) => {
    const own = trials.flatMap(({ resources }) => resources[role] ?? []);
    const loops = own.flatMap(({ eventLoop }) => eventLoop ?? []);
    const shares = own.flatMap(({ storeShare }) => storeShare ?? []);
    return [
      `${role} ${significant(median(own.map(({ cpu }) => cpu)))} cores`,
      ...(loops.length > 0 ? [`event loop ${share(loops)}`] : []),
      ...(shares.length > 0 ? [`in the store ${share(shares)}`] : []),
    ].join(', ');
  });
  const mainThread = trials.flatMap(({ redis }) => redis.mainThreadCpu ?? []);
  const redis =
    mainThread.length === trials.length
      ? `redis main thread ${significant(median(mainThread))} cores`
      : `redis ${significant(median(trials.map((trial) => trial.redis.cpu)))} cores`;
  return [...workers, redis].join('; ');
}

function share(values: readonly number[]): string {
  return `${Math.round(median([...values]) * 100)} %`;
}
