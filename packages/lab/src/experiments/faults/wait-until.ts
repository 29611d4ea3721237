import { setTimeout as delay } from 'node:timers/promises';
import type { Milliseconds } from '../../core/units.js';

const LOOK_EVERY_MS: Milliseconds = 10;

/**
 * Waits for a condition.
 * @returns false when the time was up first
 * @throws the reason of the signal when it is aborted
 */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  deadlineMs: Milliseconds,
  signal: AbortSignal,
): Promise<boolean> {
  const end = performance.now() + deadlineMs;
  while (!(await condition())) {
    signal.throwIfAborted();
    if (performance.now() >= end) return false;
    await delay(LOOK_EVERY_MS);
  }
  return true;
}
