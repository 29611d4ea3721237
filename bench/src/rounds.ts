import { seededRandom, shuffle } from './lab.js';
import type { Figures, Measurement } from './measurements/measurement.js';
import type { Stage } from './stage.js';

/** What one trial found. These are kept; lines are derived from them. */
export interface TrialRecord {
  readonly measurement: string;
  readonly side: string;
  readonly round: number;
  readonly messages: number;
  readonly figures: Figures;
}

export interface RoundsOptions {
  readonly measurements: readonly Measurement[];
  /** Names of the lines that are wanted; sides that none of them needs are not played. */
  readonly lines: ReadonlySet<string>;
  readonly rounds: number;
  /** Share of the messages of a full trial. */
  readonly scale: number;
  readonly seed: number;
  readonly signal: AbortSignal;
  /** Called after each trial. */
  readonly onTrial: (progress: Progress) => void;
}

export interface Progress {
  readonly record: TrialRecord;
  readonly label: string;
  /** Trials played so far, of how many. */
  readonly played: number;
  readonly trials: number;
}

/**
 * Plays every side once a round. Measurements come in random order within the round, and the sides of a measurement
 * in random order next to each other: what disturbs the machine for minutes disturbs both sides of a ratio, and what
 * disturbs it for seconds takes either.
 */
export async function playRounds(stage: Stage, options: RoundsOptions): Promise<TrialRecord[]> {
  const random = seededRandom(options.seed);
  const plans = options.measurements.map((measurement) => ({
    measurement,
    sides: Object.entries(measurement.sides).filter(([side]) => isNeeded(measurement, side, options.lines)),
  }));
  const trials = options.rounds * plans.reduce((sum, { sides }) => sum + sides.length, 0);
  const records: TrialRecord[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    for (const { measurement, sides } of shuffle(plans, random)) {
      for (const [name, side] of shuffle(sides, random)) {
        const messages = Math.round(side.messages * options.scale);
        const figures = await stage.trial(
          `${measurement.name}, ${side.label}`,
          (trial) => side.play(trial, messages),
          options.signal,
        );
        const record = { measurement: measurement.name, side: name, round, messages, figures };
        records.push(record);
        options.onTrial({ record, label: side.label, played: records.length, trials });
      }
    }
  }
  return records;
}

function isNeeded(measurement: Measurement, side: string, lines: ReadonlySet<string>): boolean {
  return measurement.lines.some(
    (line) => lines.has(line.name) && [line.side, line.baseline].flat().includes(side),
  );
}
