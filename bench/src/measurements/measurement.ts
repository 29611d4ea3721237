import type { Prerequisite } from '../prerequisites.js';
import type { Trial } from '../stage.js';

/**
 * The contract of a measurement: some sides, each of which plays one trial per round, and the lines that compare
 * them. It knows nothing of rounds, order or statistics.
 */
export interface Measurement {
  readonly name: string;
  /** By a name that is unique in the measurement. */
  readonly sides: Readonly<Record<string, Side>>;
  readonly lines: readonly LineDefinition[];
}

export interface Side {
  /** `BullMQ 6.7`. */
  readonly label: string;
  /** Messages in the window of a trial at full size. */
  readonly messages: number;
  /**
   * Plays one trial in processes of its own and proves that every message arrived once.
   * @param messages how many are measured
   */
  play(trial: Trial, messages: number): Promise<Figures>;
}

/** What a trial found, by name of the figure. */
export type Figures = Readonly<Partial<Record<Figure, number>>>;

export type Figure = 'messagesPerSecond' | 'p50Ms' | 'senderGrowthMb' | 'receiverGrowthMb';

export const UNITS = {
  messagesPerSecond: 'msg/s',
  p50Ms: 'ms',
  senderGrowthMb: 'MB',
  receiverGrowthMb: 'MB',
} as const satisfies Record<Figure, string>;

/** One row of the result: a side against a baseline, or a side alone. */
export interface LineDefinition {
  readonly name: string;
  /** Item of the bench's specification; `--only a` means all its lines. */
  readonly item: 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i';
  readonly figure: Figure;
  /** Name of the side that is judged; of several, the one with the best median. */
  readonly side: string | readonly string[];
  /** Name of the side it is divided by; without one the figure itself is held against the target. */
  readonly baseline?: string;
  readonly target: number;
  readonly better: 'higher' | 'lower';
  /** Programs it needs beyond redis-server; where one is missing the line is left out. Default: none. */
  readonly needs?: readonly Prerequisite[];
  /** Bytes of a body. Default: those of `bodies`. */
  readonly bodyBytes?: number;
  /** How the sides were used, for the detail. */
  readonly conditions: string;
}
