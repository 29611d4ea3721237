import { formatNanoseconds, significant } from '../core/units.js';
import type { Counted } from '../experiments/experiment.js';
import { sumLedgers } from '../measure/ledger.js';
import type { MetricDefinition } from '../measure/measurement.js';
import type { Comparison, Trial, Variant, VariantSummary } from '../measure/result.js';
import { SignedRank } from '../measure/wilcoxon.js';
import { pairUp } from './pairs.js';
import { ALPHA, type JudgedRun } from './verdict.js';
import { conditionsOf, labelOf, nameInWords } from './verdict-sentence.js';

/**
 * What a reader should take away, most important first: was anything lost; who leads in each group and how surely; what
 * is a tie, what is open and what has no verdict; what set the pace; what was left out.
 */
export function findings(
  run: JudgedRun,
  summaries: readonly VariantSummary[],
  comparisons: readonly Comparison[],
): string[] {
  return [
    ...lossFindings(summaries, run.counted),
    ...(run.rankingRefused === undefined
      ? leaderFindings(run, summaries, comparisons)
      : [`no ranking: ${run.rankingRefused}`]),
    ...(run.rankingRefused === undefined ? noVerdictFindings(comparisons) : []),
    ...openFindings(comparisons),
    ...limitFindings(run, summaries),
    ...leftOutFindings(run.trials),
  ];
}

const MESSAGES: Counted = { one: 'message', many: 'messages', fate: 'were delivered' };

function lossFindings(
  summaries: readonly VariantSummary[],
  { one, many, fate }: Counted = MESSAGES,
): string[] {
  const total = sumLedgers(summaries.map(({ ledger }) => ledger));
  if (total.attempted === 0) return [];
  const sentences = summaries.flatMap(({ name, ledger }) => [
    ...(ledger.lost > 0
      ? [`${name} lost ${grouped(ledger.lost)} of ${grouped(ledger.acknowledged)} acknowledged ${many}`]
      : []),
    ...(ledger.duplicated > 0 ? [`${name} delivered ${grouped(ledger.duplicated)} ${many} again`] : []),
    ...(ledger.unexpected > 0
      ? [`${name} handled ${grouped(ledger.unexpected)} ${many} that nobody sent in its trials`]
      : []),
  ]);
  if (total.lost > 0) return sentences;
  return [`no ${one} was lost: all ${grouped(total.acknowledged)} acknowledged ones ${fate}`, ...sentences];
}

/** The leader of each group in the first compared metric. */
function leaderFindings(
  run: JudgedRun,
  summaries: readonly VariantSummary[],
  comparisons: readonly Comparison[],
): string[] {
  const metric = run.metrics.find(({ compared, better }) => compared && better !== 'neither');
  if (metric === undefined) return [];
  const groups = new Set(run.plan.variants.map(({ group }) => group));
  return [...groups].flatMap((group) => {
    const ofGroup = comparisons.filter(
      (comparison) => comparison.group === group && comparison.metric === metric.name,
    );
    if (ofGroup.length === 0 || ofGroup.some(({ verdict }) => verdict === 'none')) return [];
    return leaderFinding(run, metric, ranked(run, metric, group, summaries), ofGroup[0]?.margin ?? 0);
  });
}

interface Ranked {
  readonly variant: Variant;
  readonly median: number;
}

function ranked(
  { plan }: JudgedRun,
  metric: MetricDefinition,
  group: string,
  summaries: readonly VariantSummary[],
): Ranked[] {
  const medians = new Map(summaries.map(({ name, metrics }) => [name, metrics[metric.name]?.median]));
  const direction = metric.better === 'lower' ? 1 : -1;
  return plan.variants
    .filter((variant) => variant.group === group && variant.role !== 'a-a')
    .flatMap((variant) => {
      const value = medians.get(variant.name);
      return value === undefined ? [] : [{ variant, median: value }];
    })
    .sort((a, b) => direction * (a.median - b.median));
}

/**
 * The leader is picked after looking at the figures, so it is held against each of the others at the level of all pairs
 * of the group (Bonferroni); whoever it does not beat by the margin shares the lead.
 */
function leaderFinding(
  { plan, trials }: JudgedRun,
  metric: MetricDefinition,
  [leader, ...others]: readonly Ranked[],
  margin: number,
): string[] {
  if (leader === undefined || others.length === 0) return [];
  const pairsOfGroup = ((others.length + 1) * others.length) / 2;
  const sharing = others.filter(({ variant }) => {
    const { logRatios } = pairUp(trials, metric.name, variant.name, leader.variant.name);
    const interval = new SignedRank(logRatios).interval(ALPHA / pairsOfGroup);
    if (interval === null) return true;
    return metric.better === 'lower' ? interval[1] >= -Math.log1p(margin) : interval[0] <= Math.log1p(margin);
  });
  const where = conditionsOf(plan, leader.variant);
  const most = `the ${metric.better === 'lower' ? 'lowest' : 'highest'} ${nameInWords(metric.name)}`;
  const figure =
    metric.unit === 'ns' ? formatNanoseconds(leader.median) : `${significant(leader.median)} ${metric.unit}`;
  const who = labelOf(plan, leader.variant);
  if (sharing.length === 0)
    return [`${who} has ${most}${where}: ${figure} (median), surely ahead of every other`];
  const rivals = sharing.map(({ variant }) => labelOf(plan, variant)).join(', ');
  return [`${who} has ${most}${where}: ${figure} (median), but is not surely ahead of ${rivals}`];
}

/** One of them in full, because they mostly have the same reason. */
function noVerdictFindings(comparisons: readonly Comparison[]): string[] {
  const [first, ...others] = comparisons.filter(({ verdict }) => verdict === 'none');
  if (first === undefined) return [];
  return [first.sentence + (others.length > 0 ? `; nor on ${others.length} more` : '')];
}

function openFindings(comparisons: readonly Comparison[]): string[] {
  const ofVerdict = (wanted: Comparison['verdict']): readonly Comparison[] =>
    comparisons.filter(({ verdict }) => verdict === wanted);
  const open = ofVerdict('inconclusive');
  const rounds = Math.max(0, ...open.map(({ roundsNeeded }) => roundsNeeded ?? 0));
  return [
    ...ofVerdict('tie').map(({ sentence }) => sentence),
    ...(open.length > 0
      ? [
          `${open.length} of ${comparisons.length} comparisons are undecided` +
            (rounds > 0 ? `; about ${rounds} rounds would tell in all of them` : ''),
        ]
      : []),
  ];
}

/** `what set the pace: consumer (queue, pubsub), redis (stream-group)`. */
function limitFindings({ plan }: JudgedRun, summaries: readonly VariantSummary[]): string[] {
  const copies = new Set(plan.variants.filter(({ role }) => role === 'a-a').map(({ name }) => name));
  const named = new Map<string, string[]>();
  for (const { name, limitedBy, trials } of summaries) {
    if (trials.measured === 0 || copies.has(name)) continue;
    named.set(limitedBy.role, [...(named.get(limitedBy.role) ?? []), name]);
  }
  if (named.size === 0) return [];
  const limits = [...named].map(([role, names]) => `${role} (${names.join(', ')})`);
  return [`what set the pace: ${limits.join('; ')}`];
}

function leftOutFindings(trials: readonly Trial[]): string[] {
  const reasons = new Map<string, number>();
  let leftOut = 0;
  for (const trial of trials) {
    if (trial.state === 'measured') continue;
    leftOut++;
    const failed = trial.validity.filter(({ status }) => status === 'fail').map(({ id }) => id);
    for (const reason of trial.state === 'failed' ? ['could not be made'] : failed) {
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
  }
  if (leftOut === 0) return [];
  const listed = [...reasons].map(([reason, count]) => `${reason} ${count}`).join(', ');
  return [`${leftOut} of ${trials.length} trials are not in the figures: ${listed}`];
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}
