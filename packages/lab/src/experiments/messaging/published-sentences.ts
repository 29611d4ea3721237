import { significant } from '../../core/units.js';
import type { AsPublished, Comparison, Plan, Summary } from '../../measure/result.js';

type Row = AsPublished['rows'][number];

/** One run without a noise floor calls everything beyond this a difference: so did the publication. */
const DIFFERENT = 0.03;

/** For each pattern what the published method would say of it and the first one, and what this run says. */
export function differences(rows: readonly Row[], plan: Plan, summary: Summary): string[] {
  const [baseline, ...others] = rows;
  if (baseline === undefined) return [];
  return others.map((row) => {
    const ratio = row.replayed / baseline.replayed;
    const published = `As published, ${wording(row.variant, ratio, baseline.variant)}.`;
    const comparison = comparisonOf(row.variant, plan, summary);
    if (comparison === undefined) return `${published} This run did not compare them.`;
    const verb = changes(ratio, comparison) ? 'Here instead' : 'Here as well';
    return `${published} ${verb}: ${comparison.sentence}.`;
  });
}

/** Whether the sequential sender hid what the patterns can do. */
export function limitSentence(rows: readonly Row[]): string[] {
  const factors = rows.flatMap(({ measured, replayed }) =>
    measured === null || replayed === 0 ? [] : [measured / replayed],
  );
  const least = Math.min(...factors);
  if (factors.length === 0 || least < 2) return [];
  return [
    `As published, the patterns are slow. Here they handle at least ${significant(least)} times as many messages per ` +
      'second: the sender, which waited for each answer before the next request, was what the original measured.',
  ];
}

function wording(variant: string, ratio: number, baseline: string): string {
  if (Math.abs(ratio - 1) <= DIFFERENT) return `${variant} is as fast as ${baseline}`;
  return ratio > 1
    ? `${variant} is ${significant(ratio)} times as fast as ${baseline}`
    : `${variant} is slower than ${baseline}, ${significant(ratio)} times its rate`;
}

/** Of the first group in which the pattern was held against the baseline. */
function comparisonOf(pattern: string, plan: Plan, { comparisons }: Summary): Comparison | undefined {
  return comparisons.find(({ candidate, metric }) => {
    const variant = plan.variants.find(({ name }) => name === candidate);
    return metric === 'throughput' && variant?.factors.pattern === pattern;
  });
}

function changes(ratio: number, { verdict }: Comparison): boolean {
  const said = Math.abs(ratio - 1) <= DIFFERENT ? 'tie' : ratio > 1 ? 'faster' : 'slower';
  return verdict !== said;
}
