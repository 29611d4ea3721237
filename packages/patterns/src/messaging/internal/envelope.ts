import { isAscii } from 'node:buffer';
import type { RedisArgument } from '../../client/redis-client.js';
import type { MessageBody } from '../pattern.js';

/**
 * A message on the wire is a short header and then the body, byte for byte:
 *
 *     weir1 <producer> <sequence>\n<body>
 *
 * `weir1` is name and version. Producer and sequence make a repeated send recognisable after an unknown outcome,
 * and let anybody count what was lost, repeated or reordered. Whatever does not begin like this was written by
 * other software and is handed over whole.
 */
const MAGIC = 'weir1 ';
const MAGIC_BYTES = Buffer.from(MAGIC);
const NEWLINE = 0x0a;
const SPACE = 0x20;
const ZERO = 0x30;
/** Magic, 32 characters of producer, 16 digits, a space and the line end. */
const LONGEST_HEADER = MAGIC.length + 32 + 1 + 16 + 1;

/**
 * Up to here an ASCII body is turned into a string: the clients write one string much faster than a string and a
 * Buffer. Longer bodies are dominated by copying, so they stay as they are.
 */
const LONGEST_AS_STRING = 16 * 1024;

export interface Header {
  readonly producer: string;
  readonly sequence: number;
  /** Where the body begins. */
  readonly bodyAt: number;
}

/** The part of the header that is the same for all messages of a producer. */
export function headerPrefix(producerId: string): string {
  return `${MAGIC}${producerId} `;
}

/** @returns header and body in one piece: a string where the bytes of the body allow it, a Buffer otherwise. */
export function encodeEnvelope(prefix: string, sequence: number, body: MessageBody): RedisArgument {
  if (typeof body === 'string') return `${prefix}${sequence}\n${body}`;
  if (body.length <= LONGEST_AS_STRING && isAscii(body)) {
    return `${prefix}${sequence}\n${asBuffer(body).toString('latin1')}`;
  }
  return Buffer.concat([Buffer.from(`${prefix}${sequence}\n`), body]);
}

/** @returns undefined for a message that was not written by a weir producer. */
export function decodeHeader(raw: Buffer): Header | undefined {
  for (let index = 0; index < MAGIC_BYTES.length; index++) {
    if (raw[index] !== MAGIC_BYTES[index]) return undefined;
  }
  const end = Math.min(raw.length, LONGEST_HEADER);
  let at = MAGIC.length;
  while (at < end && raw[at] !== SPACE) at++;
  const producer = raw.toString('latin1', MAGIC.length, at);
  const firstDigit = ++at;
  let sequence = 0;
  for (; at < end; at++) {
    const byte = raw[at] ?? 0;
    if (byte === NEWLINE) break;
    const digit = byte - ZERO;
    if (digit < 0 || digit > 9) return undefined;
    sequence = sequence * 10 + digit;
  }
  const complete = at < end && at > firstDigit && producer.length > 0 && Number.isSafeInteger(sequence);
  return complete ? { producer, sequence, bodyAt: at + 1 } : undefined;
}

/** A view, not a copy. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
