import type { CrashPoint, Fault, Persistence } from '../../faults/fault.js';

/** Stands for the point of a fault that is not one event: it lies in the handler, or there is none. */
export const NO_POINT = '-';

/** Where a fault is tried: at its first point, or at those of the asked that it has. */
export function pointsOf(
  { points }: Fault,
  asked: readonly CrashPoint[],
): readonly (CrashPoint | typeof NO_POINT)[] {
  const [first] = points;
  if (first === undefined) return [NO_POINT];
  return asked.length === 0 ? [first] : points.filter((point) => asked.includes(point));
}

/** Under which settings of Redis a fault is tried: where they change nothing, without an append-only file. */
export function persistenceOf({ persistence }: Fault, asked: readonly Persistence[]): readonly Persistence[] {
  if (persistence === undefined) return ['none'];
  return asked.length === 0 ? persistence : asked;
}
