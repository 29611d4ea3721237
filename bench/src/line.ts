import { medianInterval, SignedRank, significant } from './lab.js';
import { type LineDefinition, type Measurement, UNITS } from './measurements/measurement.js';
import { median } from './median.js';
import { BODY_BYTES } from './processes/bodies.js';
import type { TrialRecord } from './rounds.js';

/** One row of the result, as `--json` prints it. */
export interface Line {
  readonly name: string;
  /** Side over baseline; without a baseline the figure itself, in the unit the detail names. */
  readonly ratio: number;
  /** 95 % interval; below 6 rounds none exists, and it is the range of the rounds, as the detail says. */
  readonly ci95: readonly [low: number, high: number];
  readonly target: number;
  readonly better: 'higher' | 'lower';
  /** What was compared: medians of both sides with unit, messages, rounds, conditions. */
  readonly detail: string;
  /** Whether the ratio reaches the target. */
  readonly met: boolean;
}

interface Estimate {
  readonly ratio: number;
  readonly interval: readonly [low: number, high: number] | null;
  /** Value of each round. */
  readonly rounds: readonly number[];
}

const ALPHA = 0.05;

export function lineOf(
  defined: LineDefinition,
  measurement: Measurement,
  records: readonly TrialRecord[],
): Line {
  const definition = { ...defined, side: bestSide(defined, measurement, records) };
  const { name, target, better } = definition;
  const { ratio, interval, rounds } = estimate(definition, measurement, records);
  const ci95 = interval ?? ([Math.min(...rounds), Math.max(...rounds)] as const);
  const remark = interval === null ? '; below 6 rounds no 95 % interval exists, the range is shown' : '';
  return {
    ...{ name, ratio, ci95, target, better },
    detail: detailOf(definition, measurement, records) + remark,
    met: better === 'higher' ? ratio >= target : ratio <= target,
  };
}

/** A line whose side has been chosen. */
type JudgedLine = LineDefinition & { readonly side: string };

/** @throws Error when a line names no side at all: a defect of its measurement */
function bestSide(
  definition: LineDefinition,
  measurement: Measurement,
  records: readonly TrialRecord[],
): string {
  const figureOf = (side: string): number => median(valuesOf(side, definition, measurement, records));
  const rising = [definition.side].flat().sort((a, b) => figureOf(a) - figureOf(b));
  const best = rising.at(definition.better === 'higher' ? -1 : 0);
  if (best === undefined) throw new Error(`the line ${definition.name} has no side`);
  return best;
}

/** A ratio is estimated from the paired logarithms of its rounds, a single figure by its median. */
function estimate(
  definition: JudgedLine,
  measurement: Measurement,
  records: readonly TrialRecord[],
): Estimate {
  const { side, baseline } = definition;
  const own = valuesOf(side, definition, measurement, records);
  if (baseline === undefined) {
    return { ratio: median(own), interval: medianInterval(own, ALPHA), rounds: own };
  }
  const others = valuesOf(baseline, definition, measurement, records);
  const logs = own.map((value, round) => Math.log(value / (others[round] ?? Number.NaN)));
  const centre = new SignedRank(logs);
  const interval = centre.interval(ALPHA);
  return {
    ratio: Math.exp(centre.estimate),
    interval: interval && [Math.exp(interval[0]), Math.exp(interval[1])],
    rounds: logs.map(Math.exp),
  };
}

/** In the order of the rounds. */
function valuesOf(
  side: string,
  { figure }: LineDefinition,
  measurement: Measurement,
  records: readonly TrialRecord[],
): number[] {
  return records
    .filter((record) => record.measurement === measurement.name && record.side === side)
    .map(({ figures }) => figures[figure] ?? Number.NaN);
}

function detailOf(definition: JudgedLine, measurement: Measurement, records: readonly TrialRecord[]): string {
  const { side, baseline, figure, bodyBytes = BODY_BYTES, conditions } = definition;
  const compared = (baseline === undefined ? [side] : [side, baseline]).map((name) => {
    const values = valuesOf(name, definition, measurement, records);
    const played = records.find((record) => record.measurement === measurement.name && record.side === name);
    const messages = (played?.messages ?? 0).toLocaleString('en-US');
    const label = measurement.sides[name]?.label ?? name;
    return `${label} ${significant(median(values))} ${UNITS[figure]} (${messages} messages)`;
  });
  const rounds = valuesOf(side, definition, measurement, records).length;
  const medians = rounds === 1 ? '1 round' : `medians of ${rounds} rounds`;
  return `${compared.join(' against ')}, ${medians}; ${bodyBytes}-byte bodies; ${conditions}`;
}
