import type { RedisArgument, RedisCommand, RedisReply } from '../redis-client.js';

/**
 * What the libraries hand over when told to decode nothing: bulk and verbatim strings as `Buffer`s, integers as
 * decimal text (their own number parsers lose digits beyond 2^53), maps flattened to `[key, value, ...]`.
 */
export type RawReply = Buffer | string | number | bigint | boolean | null | undefined | RawReply[];

/** Replies of these hold bulk strings only; walking hundreds of entries in search of integers would be a waste. */
const BULK_ONLY = new Set(['XREAD', 'XREADGROUP', 'XRANGE', 'XREVRANGE', 'BRPOP', 'RPOP', 'XADD', 'LRANGE']);

/** Replies of these are a RESP3 map of streams, which RESP2 sends as pairs. */
const STREAM_READS = new Set(['XREAD', 'XREADGROUP']);

/** For libraries that hand over a status as a string of bytes, like any other: these commands answer with one. */
const STATUS_REPLIES = new Set([
  ...['PING', 'SET', 'MSET', 'TYPE', 'SELECT', 'AUTH', 'MULTI', 'DISCARD', 'WATCH', 'UNWATCH', 'RENAME'],
  ...[
    'FLUSHALL',
    'FLUSHDB',
    'RESTORE',
    'LSET',
    'LTRIM',
    'XGROUP',
    'XSETID',
    'BGSAVE',
    'BGREWRITEAOF',
    'SAVE',
  ],
]);
/** Of these the subcommand decides. */
const STATUS_SUBCOMMANDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['CLIENT', new Set(['SETNAME'])],
  ['CONFIG', new Set(['SET', 'RESETSTAT'])],
  ['SCRIPT', new Set(['FLUSH'])],
]);

export function answersWithStatus([name, subcommand]: RedisCommand): boolean {
  const command = String(name);
  return STATUS_REPLIES.has(command) || STATUS_SUBCOMMANDS.get(command)?.has(String(subcommand)) === true;
}

/** Brings a raw reply into the shape of the contract, whatever the library and the protocol version. */
export function replyFrom(command: RedisCommand, raw: RawReply): RedisReply {
  // What nests nothing needs no look at the command, and most replies are so.
  if (!Array.isArray(raw)) return normalise(raw);
  const name = String(command[0]);
  if (STREAM_READS.has(name) && !Array.isArray(raw[0])) return pairs(raw);
  return BULK_ONLY.has(name) && isPlain(raw) ? raw : normalise(raw);
}

/**
 * Whether an argument list can be handed to a library as it is. The libraries take `Buffer`s but not every
 * `Uint8Array`.
 */
export function argumentsOf(command: RedisCommand): readonly (string | Buffer)[] {
  return isNative(command) ? command : command.map(toNative);
}

function isNative(command: RedisCommand): command is readonly (string | Buffer)[] {
  for (const argument of command) {
    if (typeof argument !== 'string' && !Buffer.isBuffer(argument)) return false;
  }
  return true;
}

function toNative(argument: RedisArgument): string | Buffer {
  if (typeof argument === 'string' || Buffer.isBuffer(argument)) return argument;
  return Buffer.from(argument.buffer, argument.byteOffset, argument.byteLength);
}

function pairs(flat: readonly RawReply[]): RedisReply {
  const paired: RedisReply[] = [];
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const value = flat[index + 1];
    paired.push([normalise(flat[index]), isPlain(value) ? value : normalise(value)]);
  }
  return paired;
}

/** The outermost level decides: what these commands nest is of the same kind. */
function isPlain(raw: RawReply): raw is Buffer | null | RedisReply[] {
  return raw === null || Buffer.isBuffer(raw) || Array.isArray(raw);
}

function normalise(raw: RawReply): RedisReply {
  if (raw === null || raw === undefined) return null;
  if (typeof raw === 'string') return integerOrStatus(raw);
  if (typeof raw === 'boolean') return raw ? 1 : 0;
  // Integers arrive as text, so this is a RESP3 double, which RESP2 sends as a bulk string.
  if (typeof raw === 'number') return Buffer.from(String(raw));
  if (Array.isArray(raw)) return raw.map(normalise);
  return raw;
}

/** Signs and digits come before it, letters after. */
const DIGIT_NINE = '9'.charCodeAt(0);

/** A status (`OK`) is never made of digits alone, so text that is must be an integer. */
function integerOrStatus(text: string): RedisReply {
  if (text.charCodeAt(0) > DIGIT_NINE || !/^[+-]?\d+$/.test(text)) return text;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}
