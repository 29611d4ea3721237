import { formatNanoseconds } from '../../core/units.js';
import type { Result, Variant, VariantSummary } from '../../measure/result.js';
import {
  formatEstimate,
  groupsOf,
  labelsOf,
  NO_FIGURE,
  plural,
  shownMetrics,
  summariesOf,
  words,
} from './figures.js';
import { type Style, wrap } from './style.js';
import { type Column, renderTable } from './table.js';

/** One table per group, and what its columns mean where that is not plain. */
export function tables(result: Result, style: Style): string[] {
  const lines = [style.heading('Figures'), ...workloadLines(result, style)];
  for (const [group, variants] of groupsOf(result)) {
    const labels = labelsOf(variants);
    const rows = summariesOf(result, variants).map((row) => ({
      ...row,
      label: labels.get(row.variant.name) ?? row.variant.name,
    }));
    if (rows.length === 0) continue;
    lines.push('', ...(group === '' ? [] : [`  ${style.strong(group)}`]));
    lines.push(...groupTable(result, rows, style), ...otherLatencies(rows, style));
    lines.push(...rows.flatMap((row) => lossLines(row, style)));
    lines.push(...limitLines(rows, style));
  }
  return [...lines, ...legend(result, style)];
}

interface Row {
  readonly variant: Variant;
  readonly summary: VariantSummary;
  /** What tells it from the others of its group. */
  readonly label: string;
}

function workloadLines(result: Result, style: Style): string[] {
  const held = Object.entries(result.plan.workload)
    .filter(([, value]) => value !== null && value !== '')
    .map(
      ([name, value]) =>
        `${words(name)} ${typeof value === 'number' ? value.toLocaleString('en-US') : value}`,
    );
  if (held.length === 0) return [];
  return wrap(`held equal: ${held.join(', ')}`, { width: style.width, first: '  ', paint: style.quiet });
}

function groupTable(result: Result, rows: readonly Row[], style: Style): string[] {
  const metrics = shownMetrics(result);
  const latency = firstLatency(rows);
  const columns: Column[] = [
    { head: 'variant' },
    ...metrics.map((metric) => ({ head: metricHead(metric, rows), align: 'right' as const })),
    ...(latency === undefined ? [] : LATENCY_COLUMNS),
    { head: 'lost', align: 'right' },
    { head: 'duplicated', align: 'right' },
    { head: 'limited by' },
  ];
  const cells = rows.map(({ variant, summary, label }) => [
    variant.role === 'a-a' ? style.quiet(label) : label,
    ...metrics.map((metric) => {
      const estimate = summary.metrics[metric];
      return estimate === undefined ? NO_FIGURE : formatEstimate(estimate);
    }),
    ...(latency === undefined ? [] : percentileCells(summary, latency)),
    countCell(summary.ledger.lost, style.bad),
    countCell(summary.ledger.duplicated, style.caution),
    summary.limitedBy.role,
  ]);
  return renderTable(columns, cells);
}

const LATENCY_COLUMNS: readonly Column[] = [
  { head: 'p50', align: 'right' },
  { head: 'p99', align: 'right' },
  { head: 'p99.9', align: 'right' },
];

/** The name is left out for a plain throughput: `msg/s` says it. */
function metricHead(metric: string, rows: readonly Row[]): string {
  const estimates = rows.flatMap(({ summary }) => summary.metrics[metric] ?? []);
  const unit = estimates[0]?.unit ?? '';
  const name = metric === 'throughput' && unit !== '' ? unit : words(metric);
  return estimates.some((estimate) => estimate.ci95 !== null) ? `${name} [95 %]` : name;
}

function percentileCells(summary: VariantSummary, latency: string): string[] {
  const found = summary.percentiles[latency];
  return [found?.p50, found?.p99, found?.p999].map((value) =>
    value === undefined || value === null ? NO_FIGURE : formatNanoseconds(value),
  );
}

/** The first histogram the experiment gives is its main one; it stands beside the throughput. */
function firstLatency(rows: readonly Row[]): string | undefined {
  return rows.flatMap(({ summary }) => Object.keys(summary.percentiles)).at(0);
}

/** Service time beside response time and the like: one table for each further histogram. */
function otherLatencies(rows: readonly Row[], style: Style): string[] {
  const names = [...new Set(rows.flatMap(({ summary }) => Object.keys(summary.percentiles)))].slice(1);
  return names.flatMap((name) => [
    '',
    ...renderTable(
      [{ head: words(name) }, ...LATENCY_COLUMNS, { head: 'max', align: 'right' }],
      rows.map(({ variant, summary, label }) => {
        const max = summary.percentiles[name]?.max;
        return [
          variant.role === 'a-a' ? style.quiet(label) : label,
          ...percentileCells(summary, name),
          max === undefined || max === null ? NO_FIGURE : formatNanoseconds(max),
        ];
      }),
    ),
  ]);
}

function countCell(count: number, paint: (text: string) => string): string {
  const text = count.toLocaleString('en-US');
  return count > 0 ? paint(text) : text;
}

/** Where lost messages are, and sends that were refused or never answered: only when there are any. */
function lossLines({ label, summary: { ledger } }: Row, style: Style): string[] {
  const parts: string[] = [];
  if (ledger.lost > 0) {
    const places = Object.entries(ledger.where)
      .filter(([, count]) => count > 0)
      .map(([place, count]) => `${count.toLocaleString('en-US')} ${words(place)}`);
    const where = places.length > 0 ? places.join(', ') : 'none of them is in Redis any more';
    parts.push(
      `${plural(ledger.lost, 'acknowledged message')} lost of ${plural(ledger.acknowledged, 'message')} (${where})`,
    );
  }
  if (ledger.failed > 0) parts.push(`${plural(ledger.failed, 'send')} refused`);
  if (ledger.unknown > 0) parts.push(`${plural(ledger.unknown, 'send')} without an answer`);
  if (ledger.unexpected > 0) parts.push(`${plural(ledger.unexpected, 'message')} that nobody sent`);
  if (parts.length === 0) return [];
  return wrap(`${label}: ${parts.join('; ')}`, { width: style.width, first: '  ! ', paint: style.bad });
}

/** The figures behind `limited by`; variants with the same evidence share a line. */
function limitLines(rows: readonly Row[], style: Style): string[] {
  const byEvidence = new Map<string, string[]>();
  for (const { variant, summary, label } of rows) {
    const { role, evidence } = summary.limitedBy;
    if (variant.role === 'a-a' || evidence === '') continue;
    const key = `limited by ${role}: ${evidence}`;
    byEvidence.set(key, [...(byEvidence.get(key) ?? []), label]);
  }
  return [...byEvidence].flatMap(([evidence, names]) =>
    wrap(`${names.join(', ')} ${evidence}`, { width: style.width, first: '  · ', paint: style.quiet }),
  );
}

/** What latency means depends on the load; saying so beside the figures is what keeps them from being misread. */
const LATENCY_NOTES: Readonly<Record<string, string>> = {
  capacity:
    'Latency is saturated, not service latency: the load is closed and always full. Use --mode rate for service latency.',
  rate: 'Latency counts from the intended send time, so waiting behind a stall is part of it.',
  backlog: 'Latency includes the time a message waited in the backlog before the consumer was started.',
};

function legend(result: Result, style: Style): string[] {
  const notes: string[] = [];
  const summaries = result.summary.variants;
  const percentiles = summaries.flatMap((summary) => Object.values(summary.percentiles));
  const note = LATENCY_NOTES[String(result.plan.workload.mode)];
  if (percentiles.length > 0 && note !== undefined) notes.push(note);
  if (percentiles.some((found) => found.p50 === null || found.p99 === null || found.p999 === null)) {
    notes.push(`${NO_FIGURE} in a percentile: fewer than 100 samples lie beyond it.`);
  }
  const isOutlying = summaries.filter((summary) => summary.outliers.length > 0);
  if (isOutlying.length > 0) {
    const list = isOutlying.map((summary) => `${summary.name} (${summary.outliers.join(', ')})`).join(', ');
    notes.push(`Trials far from the rest, kept in all figures: ${list}.`);
  }
  if (notes.length === 0) return [];
  return [
    '',
    ...notes.flatMap((text) => wrap(text, { width: style.width, first: '  ', paint: style.quiet })),
  ];
}
