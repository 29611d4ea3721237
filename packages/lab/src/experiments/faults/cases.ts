import type { MessagingPattern } from '@weir/patterns';
import {
  CRASH_POINTS,
  type CrashPoint,
  type Fault,
  PERSISTENCE,
  type Persistence,
} from '../../faults/fault.js';
import type { Factors } from '../../measure/result.js';

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

/** What the plan says of one trial. */
export interface Case {
  readonly pattern: MessagingPattern;
  readonly fault: Fault;
  readonly persistence: Persistence;
  /** `undefined`: the fault is not one event. */
  readonly point: CrashPoint | undefined;
}

/** Finds what the factors of a planned trial name. @throws Error when the plan has what was not asked for */
export function caseOf(
  factors: Factors,
  { patterns, faults }: { readonly patterns: readonly MessagingPattern[]; readonly faults: readonly Fault[] },
): Case {
  const pattern = patterns.find(({ name }) => name === factors.pattern);
  const fault = faults.find(({ name }) => name === factors.fault);
  const persistence = PERSISTENCE.find((name) => name === factors.persistence);
  const point = CRASH_POINTS.find((name) => name === factors.point);
  const isKnown = point !== undefined || factors.point === NO_POINT;
  if (pattern === undefined || fault === undefined || persistence === undefined || !isKnown) {
    throw new Error(`the plan has a trial that was not asked for: ${JSON.stringify(factors)}`);
  }
  return { pattern, fault, persistence, point };
}
