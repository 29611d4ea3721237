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

/**
 * Waits for work that may never end by itself.
 * @param what for the message
 * @throws Error when the time is up first, the reason of the signal when it is aborted; the work goes on alone then
 */
export async function endsWithin<T>(
  what: string,
  work: Promise<T>,
  deadlineMs: Milliseconds,
  signal: AbortSignal,
): Promise<T> {
  const ended = new AbortController();
  const tooLate = delay(deadlineMs, undefined, { signal: AbortSignal.any([signal, ended.signal]) }).then(
    () => {
      throw new Error(`${what} did not end within ${deadlineMs} ms`);
    },
  );
  try {
    return await Promise.race([work, tooLate]);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    ended.abort();
  }
}
