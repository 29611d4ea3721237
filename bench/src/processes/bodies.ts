/**
 * Message bodies that every contender gets alike: 100 bytes of ASCII, the sequence number in front, so that the
 * receiver can prove that each message came, and came once.
 */
export const BODY_BYTES = 100;
const DIGITS = 9;
const ZERO = 0x30;
const FILLER = 'x'.repeat(BODY_BYTES - DIGITS);

/** Bodies `from` up to `from + count - 1`. */
export function bodies(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => String(from + index).padStart(DIGITS, '0') + FILLER);
}

/**
 * Reads the last {@link BODY_BYTES}: a bare subscriber to a weir producer's channel sees the envelope in front.
 * @returns -1 for bytes that no sender of this trial made
 */
export function sequenceOf(body: string | Uint8Array): number {
  const start = body.length - BODY_BYTES;
  if (start < 0) return -1;
  let sequence = 0;
  for (let index = start; index < start + DIGITS; index++) {
    const digit = (typeof body === 'string' ? body.charCodeAt(index) : (body[index] ?? 0)) - ZERO;
    if (digit < 0 || digit > 9) return -1;
    sequence = sequence * 10 + digit;
  }
  return sequence;
}
