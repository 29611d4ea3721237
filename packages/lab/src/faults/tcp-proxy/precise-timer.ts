import { NANOSECONDS_PER_MILLISECOND, type Nanoseconds } from '../../core/units.js';
import { monotonicNs } from '../../measure/clock.js';

/** `setTimeout` knows whole milliseconds and may be one late; the rest is waited for by polling. */
const TIMER_SLACK_NS = 2 * NANOSECONDS_PER_MILLISECOND;

/**
 * Calls back once `dueNs` has come, within some ten microseconds where the machine is not overloaded: `setTimeout`
 * alone would turn a delay of 0.25 ms into one of 1 to 2 ms. The last two milliseconds are polled once per turn of
 * the event loop, which serves sockets meanwhile; this costs CPU time while something is due, and none otherwise.
 * @returns cancels
 */
export function callAt(dueNs: Nanoseconds, callback: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let poll: NodeJS.Immediate | undefined;
  const wait = (): void => {
    const leftNs = dueNs - monotonicNs();
    if (leftNs <= 0) callback();
    else if (leftNs > TIMER_SLACK_NS) {
      timer = setTimeout(wait, Math.floor((leftNs - TIMER_SLACK_NS) / NANOSECONDS_PER_MILLISECOND));
    } else poll = setImmediate(wait);
  };
  poll = setImmediate(wait);
  return () => {
    clearTimeout(timer);
    clearImmediate(poll);
  };
}
