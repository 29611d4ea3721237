import { significant } from '../core/units.js';
import type { MetricDefinition } from '../measure/measurement.js';
import type { Comparison, Interval, Plan, Variant } from '../measure/result.js';

export interface VerdictSubject {
  readonly plan: Plan;
  readonly metric: MetricDefinition;
  readonly baseline: Variant;
  readonly candidate: Variant;
}

export interface VerdictGrounds {
  /** 90 % interval of the ratio, on which a tie rests. */
  readonly tieInterval: Interval | null;
  /** What "equal" means: the margin, and 10 % where the noise is louder than that. */
  readonly tieMargin: number;
  /** Why there is no verdict. */
  readonly refusal: string | undefined;
}

/** A comparison in plain words: who against whom, in what, by how much and how surely. No full stop at the end. */
export function verdictSentence(
  { plan, metric, baseline, candidate }: VerdictSubject,
  comparison: Omit<Comparison, 'sentence'>,
  { tieInterval, tieMargin, refusal }: VerdictGrounds,
): string {
  const { ratio, ci95, margin, verdict } = comparison;
  const who = labelOf(plan, candidate);
  const whom = labelOf(plan, baseline);
  const where = conditionsOf(plan, baseline);
  const what = nameInWords(metric.name);
  if (verdict === 'none' || ratio === null || ci95 === null) {
    return `no verdict on the ${what} of ${who} against ${whom}${where}: ${refusal ?? 'too few rounds'}`;
  }
  const phrase = (metric.comparison ?? `has {ratio} times the ${what} of`).replace(
    '{ratio}',
    significant(ratio),
  );
  const said = `${who} ${phrase} ${whom}${where}`;
  const interval = `(95 % interval ${span(ci95)})`;
  switch (verdict) {
    case 'faster':
    case 'slower':
      return `${said} ${interval}`;
    case 'tie':
      return (
        `${who} and ${whom} are equal in ${what}${where} within ${percent(tieMargin)}: ` +
        `ratio ${significant(ratio)}${tieInterval === null ? '' : ` (90 % interval ${span(tieInterval)})`}`
      );
    case 'small':
      return `${said} ${interval}: a difference, but perhaps less than the margin of ${percent(margin)}`;
    case 'inconclusive':
      return (
        `the ${what} of ${who} against ${whom}${where} is undecided: ratio ${significant(ratio)} ${interval}` +
        (comparison.roundsNeeded === null ? '' : `; about ${comparison.roundsNeeded} rounds would tell`)
      );
  }
}

/**
 * What tells a variant from the others of its group: the value of the compared factor, `stream-group`; a number alone
 * says nothing, so it comes with the factor's name, `depth 16`.
 */
export function labelOf(plan: Plan, variant: Variant): string {
  const compared = comparedFactors(plan, variant.group);
  const values = compared.map((factor) => {
    const value = variant.factors[factor];
    return typeof value === 'string' ? value : `${nameInWords(factor)} ${value}`;
  });
  return values.join(' ') || variant.name;
}

/** What a group holds fixed and other groups do not: ` at batch 100`, or nothing. */
export function conditionsOf(plan: Plan, variant: Variant): string {
  const compared = comparedFactors(plan, variant.group);
  const fixed = Object.entries(plan.factors).flatMap(([factor, values]) =>
    values.length > 1 && !compared.includes(factor)
      ? [`${nameInWords(factor)} ${variant.factors[factor]}`]
      : [],
  );
  return fixed.length === 0 ? '' : ` at ${fixed.join(', ')}`;
}

function comparedFactors(plan: Plan, group: string): string[] {
  const variants = plan.variants.filter((variant) => variant.group === group);
  return Object.keys(plan.factors).filter(
    (factor) => new Set(variants.map(({ factors }) => factors[factor])).size > 1,
  );
}

/** `latencyP99` -> `latency p99`, `send-rate` -> `send rate`. */
export function nameInWords(name: string): string {
  return name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('-', ' ')
    .toLowerCase();
}

/** Two digits are enough of a margin: `5.7 %`. */
export function percent(share: number): string {
  return `${Number((share * 100).toPrecision(2))} %`;
}

function span([low, high]: Interval): string {
  return `${significant(low)} to ${significant(high)}`;
}
