import type { LineDefinition, Measurement } from './measurements/measurement.js';
import { missing } from './prerequisites.js';

/** A line that cannot be measured here, and what would change that. */
export interface LeftOut {
  readonly name: string;
  readonly detail: string;
}

/** Of the wanted lines, by name, those that can be measured on this machine, and why the others cannot. */
export function selectMeasurable(
  measurements: readonly Measurement[],
  wanted: ReadonlySet<string>,
): { readonly lines: ReadonlySet<string>; readonly leftOut: readonly LeftOut[] } {
  const lines = measurements
    .flatMap((measurement) => measurement.lines)
    .filter(({ name }) => wanted.has(name));
  const leftOut = lines.flatMap(({ name, needs = [] }: LineDefinition): LeftOut[] => {
    const reasons = needs.flatMap((prerequisite) => missing(prerequisite) ?? []);
    return reasons.length === 0 ? [] : [{ name, detail: reasons.join('; ') }];
  });
  const unmeasurable = new Set(leftOut.map(({ name }) => name));
  return {
    lines: new Set(lines.map(({ name }) => name).filter((name) => !unmeasurable.has(name))),
    leftOut,
  };
}
