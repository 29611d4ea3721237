import type { Measurement, MetricDefinition } from '../measure/measurement.js';
import type { Result, Validity } from '../measure/result.js';

/**
 * The contract of a check: it looks at one trial or at the whole run and says whether the figures may be believed.
 * One file per check; the file name is the id. A check never repairs or hides anything.
 */
export interface Check {
  /** Registered name; equals the file name. */
  readonly name: string;
  readonly summary: string;
  /** Looks at one trial. `fail` leaves the trial out of the comparisons, with the reason shown. */
  readonly trial?: (measurement: Measurement) => Finding;
  /** Looks at the run. `fail` makes the run invalid (exit 3), or takes the ranking away: see `ranking`. */
  readonly run?: (run: CheckedRun) => Finding;
  /** What a failed run-level check takes away. Default `run`: the whole run is invalid. */
  readonly takesAway?: 'run' | 'ranking';
}

/** A finding without the id, which the caller adds. `undefined`: the check does not apply. */
export type Finding = Omit<Validity, 'id'> | undefined;

export interface CheckedRun {
  readonly result: Omit<Result, 'validity'>;
  readonly metrics: readonly MetricDefinition[];
  /** What is different after the run: server, configuration, processors. */
  readonly environmentChanges: readonly string[];
}

export function pass(evidence: string): Omit<Validity, 'id'> {
  return { status: 'pass', evidence, remedy: '' };
}
export function warn(evidence: string, remedy: string): Omit<Validity, 'id'> {
  return { status: 'warn', evidence, remedy };
}
export function fail(evidence: string, remedy: string): Omit<Validity, 'id'> {
  return { status: 'fail', evidence, remedy };
}
