import { NANOSECONDS_PER_SECOND } from '../../core/units.js';
import { type PointLoadReport, TENTHS } from '../../workers/point-api.js';

/** The answers of several load processes together. */

/** Of all load processes. */
export function totals(
  reports: readonly PointLoadReport[],
): Pick<PointLoadReport, 'attempted' | 'succeeded' | 'refused'> {
  const sum = (field: 'attempted' | 'succeeded' | 'refused'): number =>
    reports.reduce((total, report) => total + report[field], 0);
  return { attempted: sum('attempted'), succeeded: sum('succeeded'), refused: sum('refused') };
}

/** Answers per second in the windows of all load processes. */
export function throughputOf(reports: readonly PointLoadReport[]): number {
  return reports.reduce(
    (sum, { tenths, windowNs }) => sum + (total(tenths) * NANOSECONDS_PER_SECOND) / windowNs,
    0,
  );
}

/** Answers per second in each half of the window. */
export function halvesOf(reports: readonly PointLoadReport[], seconds: number): readonly [number, number] {
  const tenths = tenthsOf(reports);
  const rate = (part: readonly number[]): number => total(part) / (seconds / 2);
  return [rate(tenths.slice(0, TENTHS / 2)), rate(tenths.slice(TENTHS / 2))];
}

/** Answers with 2xx in each tenth. The windows of the load processes lie a few milliseconds apart, which is little of a tenth. */
export function tenthsOf(reports: readonly PointLoadReport[]): number[] {
  return Array.from({ length: TENTHS }, (_, tenth) =>
    reports.reduce((sum, { tenths }) => sum + (tenths[tenth] ?? 0), 0),
  );
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
