import type { Milliseconds } from '../core/units.js';

/** Times a person waits: `450 ms`, `8 s`, `1 min 20 s`, `2 h 5 min`. */
export function formatDuration(milliseconds: Milliseconds): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = Math.round(milliseconds / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return join(`${minutes} min`, seconds % 60, 's');
  return join(`${Math.floor(minutes / 60)} h`, minutes % 60, 'min');
}

function join(head: string, rest: number, unit: string): string {
  return rest === 0 ? head : `${head} ${rest} ${unit}`;
}
