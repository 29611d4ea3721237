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

/** Sequence number in base 36, left-padded: 2 billion messages. */
const SEQUENCE_CHARACTERS = 6;
/** Longest id of a producer in a body. */
const PRODUCER_CHARACTERS = 16;

/** The smallest payload that also says who sent it, in bytes. */
export const SMALLEST_IDENTIFIED_BYTES = STAMP_CHARACTERS + SEQUENCE_CHARACTERS + PRODUCER_CHARACTERS + 1;

/**
 * Bodies that say who sent them. Behind a service the envelope of the pattern carries the service's name and count;
 * the sender's own have to travel inside:
 *
 *     <stamp: 12><sequence: 6><producer, padded with blanks: 16>;<filler>
 */
export function identifiedPayloadOf(
  bytes: number,
  producerId: string,
): (intendedNs: Nanoseconds, sequence: number) => string {
  const stamped = payloadOf(bytes);
  const producer = producerId.padEnd(PRODUCER_CHARACTERS);
  return (intendedNs, sequence) => {
    const text = stamped(intendedNs);
    const number = sequence.toString(36).padStart(SEQUENCE_CHARACTERS, '0');
    return `${text.slice(0, STAMP_CHARACTERS)}${number}${producer};${text.slice(SMALLEST_IDENTIFIED_BYTES)}`;
  };
}

/** Who sent a body made by `identifiedPayloadOf`; of another body the producer is empty. */
export function identityOf(body: Buffer): { readonly producer: string; readonly sequence: number } {
  const text = body.toString('latin1', STAMP_CHARACTERS, SMALLEST_IDENTIFIED_BYTES);
  const sequence = Number.parseInt(text.slice(0, SEQUENCE_CHARACTERS), 36);
  if (!text.endsWith(';') || !Number.isSafeInteger(sequence)) return { producer: '', sequence: -1 };
  return { producer: text.slice(SEQUENCE_CHARACTERS, -1).trimEnd(), sequence };
}
