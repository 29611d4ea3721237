import type { Observations } from '../../measure/measurement.js';
import { coefficientOfVariation } from '../../measure/statistics.js';
import type { HandledBoard } from './handled-board.js';
import type { WarmUp } from './options.js';

/** METHOD, "Trials and rounds" 4: settled when five windows in a row vary by 2 % or less. */
const WINDOWS = 5;
const SETTLED_VARIATION = 0.02;
/** Five times a fifth may be a little more than the whole. */
const ROUNDING_MS = 1e-6;

/**
 * Watches the handling rate window by window and resolves when it has settled or the cap is reached; never settling
 * is reported, not hidden.
 */
export async function watchWarmUp(
  board: HandledBoard,
  { windowMs, capMs }: WarmUp,
  signal: AbortSignal,
): Promise<NonNullable<Observations['warmUp']>> {
  const counts: number[] = [];
  let before = board.total('warmUp');
  let variation: number | null = null;
  for (let window = 1; window * windowMs <= capMs + ROUNDING_MS; window++) {
    await elapse(windowMs, signal);
    const now = board.total('warmUp');
    counts.push(now - before);
    before = now;
    if (counts.length < WINDOWS) continue;
    variation = coefficientOfVariation(counts.slice(-WINDOWS));
    if (isSettled(variation)) break;
  }
  return {
    settled: isSettled(variation),
    variation: variation ?? 1,
    seconds: (counts.length * windowMs) / 1000,
  };
}

function isSettled(variation: number | null): boolean {
  return variation !== null && variation <= SETTLED_VARIATION;
}

function elapse(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', aborted);
      resolve();
    }, milliseconds);
    signal.addEventListener('abort', aborted, { once: true });
    if (signal.aborted) aborted();
  });
}
