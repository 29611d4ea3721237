import { formatBytes, formatNanoseconds, significant } from '../../core/units.js';
import type { Estimate, Interval, Result, Variant, VariantSummary } from '../../measure/result.js';

/** How figures and names are written in the text report; three significant digits throughout. */

/** Placeholder for a figure that cannot be given, explained below the table. */
export const NO_FIGURE = '–';

export function formatQuantity(value: number, unit: string): string {
  if (unit === 'ns') return formatNanoseconds(value);
  if (unit === 'B') return formatBytes(value);
  return significant(value);
}

/** `48,200 [47,900–48,600]`; without an interval only the median. */
export function formatEstimate(estimate: Estimate): string {
  const median = formatQuantity(estimate.median, estimate.unit);
  if (estimate.ci95 === null) return median;
  const [low, high] = estimate.ci95;
  return `${median} [${formatQuantity(low, estimate.unit)}–${formatQuantity(high, estimate.unit)}]`;
}

/** A ratio as a difference: `1.034` -> `+3.40 %`, `0.9` -> `-10.0 %`. */
export function formatDifference(ratio: number): string {
  const percent = (ratio - 1) * 100;
  if (Math.abs(percent) < 0.01) return '0 %';
  return `${percent > 0 ? '+' : ''}${significant(percent)} %`;
}

export function formatDifferenceInterval([low, high]: Interval): string {
  return `[${formatDifference(low)} to ${formatDifference(high)}]`;
}

/** Sum of trials the plan holds. */
export function plannedTrials(result: Result): number {
  return result.plan.order.reduce((sum, round) => sum + round.length, 0);
}

/** Groups in the order of the plan, each with its variants; the group of a run without groups is empty text. */
export function groupsOf(result: Result): ReadonlyMap<string, readonly Variant[]> {
  const groups = new Map<string, Variant[]>();
  for (const variant of result.plan.variants) {
    groups.set(variant.group, [...(groups.get(variant.group) ?? []), variant]);
  }
  return groups;
}

/**
 * What tells the variants of a group apart: `queue` rather than `queue batch=100` in the table of batch 100. The
 * second copy of the baseline says what it is.
 */
export function labelsOf(variants: readonly Variant[]): ReadonlyMap<string, string> {
  const varying = Object.keys(variants[0]?.factors ?? {}).filter(
    (factor) => new Set(variants.map((variant) => variant.factors[factor])).size > 1,
  );
  return new Map(
    variants.map((variant) => {
      const own = varying.map((factor) => String(variant.factors[factor])).join(' ');
      return [variant.name, own === '' ? variant.name : own + (variant.role === 'a-a' ? ' (A/A)' : '')];
    }),
  );
}

/** The variants of a group that have a summary, in the order of the plan. */
export function summariesOf(
  result: Result,
  variants: readonly Variant[],
): readonly { readonly variant: Variant; readonly summary: VariantSummary }[] {
  const byName = new Map(result.summary.variants.map((summary) => [summary.name, summary]));
  return variants.flatMap((variant) => {
    const summary = byName.get(variant.name);
    return summary === undefined ? [] : [{ variant, summary }];
  });
}

/**
 * The metrics the report shows: those that were compared, in their order; where nothing was compared (a single
 * variant), the first metric the experiment gives.
 */
export function shownMetrics(result: Result): readonly string[] {
  const compared = [...new Set(result.summary.comparisons.map((comparison) => comparison.metric))];
  if (compared.length > 0) return compared;
  const first = result.summary.variants.flatMap((summary) => Object.keys(summary.metrics)).at(0);
  return first === undefined ? [] : [first];
}

/** `endToEndLatency` -> `end to end latency`. */
export function words(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('-', ' ')
    .toLowerCase();
}

export function plural(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`;
}
