import type { Nanoseconds } from '../core/units.js';

/**
 * The body of a measured message: when it was meant to be sent, in base 36 and left-padded to a fixed width, then
 * filler up to the payload size. Text, because client libraries carry text at least as fast as bytes, and the
 * fixed width lets the consumer check that nothing was cut.
 */
const STAMP_CHARACTERS = 12;

/** The smallest payload that holds the stamp, in bytes. */
export const SMALLEST_PAYLOAD_BYTES = STAMP_CHARACTERS;

/** Makes bodies of one size. The filler is printable and the same for every variant. */
export function payloadOf(bytes: number): (intendedNs: Nanoseconds) => string {
  const filler = 'weir measures the flow of a stream. '
    .repeat(Math.ceil(bytes / 36))
    .slice(STAMP_CHARACTERS, bytes);
  return (intendedNs) => Math.round(intendedNs).toString(36).padStart(STAMP_CHARACTERS, '0') + filler;
}

/** When the message was meant to be sent; NaN when the body is not one of ours. */
export function intendedTime(body: Buffer): Nanoseconds {
  return Number.parseInt(body.toString('latin1', 0, STAMP_CHARACTERS), 36);
}
