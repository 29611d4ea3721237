import type { Nanoseconds } from '../core/units.js';
import { NANOSECONDS_PER_SECOND } from '../core/units.js';

/**
 * The monotonic clock of this host in nanoseconds (CLOCK_MONOTONIC on Linux). All processes of a host read the same
 * clock, so a time taken in the producer can be subtracted from one taken in the consumer. It never goes back and is
 * not the time of day; across hosts it means nothing.
 *
 * The number is exact to the nanosecond while it stays below 2^53, that is for the first 104 days after boot; after
 * that it is rounded to 2 ns, after 208 days to 4 ns. The hardware behind it ticks in tens of nanoseconds.
 */
export function monotonicNs(): Nanoseconds {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * NANOSECONDS_PER_SECOND + nanoseconds;
}
