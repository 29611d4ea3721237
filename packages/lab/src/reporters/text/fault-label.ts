import { significant } from '../../core/units.js';
import type { Factors } from '../../measure/result.js';

/** How faults and recoveries are written, in the text report and in the documents. */

/** `redis-kill (AOF always, mid-pipeline)`; what is as usual is left out. */
export function faultLabel({ fault, persistence, point }: Factors): string {
  const details = [
    ...(persistence === undefined || persistence === 'none' ? [] : [`AOF ${persistence}`]),
    ...(point === undefined || point === 'after-read' || point === '-' ? [] : [point]),
  ];
  return details.length === 0 ? String(fault) : `${fault} (${details.join(', ')})`;
}

/** `506 ms`, `1.23 s` */
export function recoveryTime(milliseconds: number): string {
  return milliseconds >= 1000 ? `${significant(milliseconds / 1000)} s` : `${Math.round(milliseconds)} ms`;
}
