import type { GlideReturnType } from '@valkey/valkey-glide';
import type { RedisCommand } from '../redis-client.js';
import { answersWithStatus, type RawReply } from './replies.js';

/**
 * valkey-glide interprets replies by the name of the command, whatever the protocol: streams become maps of maps,
 * 1 and 0 become booleans, some strings become numbers. This puts them back to what Redis sent.
 */

/** Their replies are entries, `{ key: id, value: [[field, value], ...] }` at glide. */
const ENTRY_REPLIES = new Set(['XRANGE', 'XREVRANGE', 'XCLAIM']);
/** Their replies are streams, `{ key: stream, value: entries }` at glide. */
const STREAM_REPLIES = new Set(['XREAD', 'XREADGROUP']);
/** Redis answers with a string, glide with the number it stands for. */
const NUMBERS_AS_STRINGS = new Set(['INCRBYFLOAT', 'HINCRBYFLOAT', 'ZSCORE', 'ZINCRBY', 'GEODIST']);

/** Integers leave as text, as {@link RawReply} wants them. @throws Error an integer that glide has rounded */
export function rawFromGlide(command: RedisCommand, reply: GlideReturnType): RawReply {
  const name = String(command[0]);
  if (Buffer.isBuffer(reply)) return answersWithStatus(command) ? reply.toString('latin1') : reply;
  if (STREAM_REPLIES.has(name)) return listOf(reply, ({ key, value }) => [plain(key), entries(value)]);
  if (ENTRY_REPLIES.has(name)) return entries(reply);
  if (name === 'XAUTOCLAIM' && Array.isArray(reply)) {
    const [cursor, claimed, ...deleted] = reply;
    return [plain(cursor), entries(claimed), ...deleted.map(plain)];
  }
  if (NUMBERS_AS_STRINGS.has(name) && typeof reply === 'number') return Buffer.from(String(reply));
  return plain(reply);
}

/** One pair of what Redis calls a map. */
interface Pair {
  readonly key: GlideReturnType;
  readonly value: GlideReturnType;
}

function isPair(value: unknown): value is Pair {
  return typeof value === 'object' && value !== null && 'key' in value && 'value' in value;
}

function listOf(reply: GlideReturnType | undefined, convert: (pair: Pair) => RawReply): RawReply {
  if (!Array.isArray(reply)) return plain(reply);
  return reply.map((item) => (isPair(item) ? convert(item) : plain(item)));
}

/** Of an entry that was deleted while it was pending only the id is left. */
function entries(reply: GlideReturnType | undefined): RawReply {
  return listOf(reply, ({ key, value }) => [
    plain(key),
    Array.isArray(value)
      ? value.flatMap((field) => (Array.isArray(field) ? field.map(plain) : [plain(field)]))
      : null,
  ]);
}

function plain(reply: GlideReturnType | undefined): RawReply {
  if (reply === null || reply === undefined || Buffer.isBuffer(reply)) return reply;
  if (typeof reply === 'string' || typeof reply === 'boolean' || typeof reply === 'bigint') return reply;
  if (typeof reply === 'number') return integerOrDouble(reply);
  if (Array.isArray(reply)) return reply.flatMap((item) => (isPair(item) ? flat(item) : [plain(item)]));
  if (reply instanceof Set) return [...reply].map(plain);
  if (isPair(reply)) return flat(reply);
  return String(reply);
}

/** A map as RESP2 sends it: keys and values in one list. */
function flat({ key, value }: Pair): RawReply[] {
  return [plain(key), plain(value)];
}

function integerOrDouble(value: number): RawReply {
  if (!Number.isInteger(value)) return value;
  if (Number.isSafeInteger(value)) return String(value);
  throw new Error('the answer is an integer beyond 2^53, which valkey-glide has rounded');
}

/** What glide calls the errors it knows, and Redis' own word for each. */
const ERROR_WORDS: Readonly<Record<string, string>> = {
  ResponseError: 'ERR',
  BusyLoadingError: 'LOADING',
  NoScriptError: 'NOSCRIPT',
  ReadOnly: 'READONLY',
  MasterDown: 'MASTERDOWN',
  PermissionDenied: 'NOPERM',
  ExecAbortError: 'EXECABORT',
  NotBusy: 'NOTBUSY',
  CrossSlot: 'CROSSSLOT',
  ClusterDown: 'CLUSTERDOWN',
  TryAgain: 'TRYAGAIN',
  Moved: 'MOVED',
  Ask: 'ASK',
};

/**
 * Puts an error reply back into Redis' words (`WRONGTYPE: Operation` was `WRONGTYPE Operation`) and names what was
 * refused before it was written in the words the adapters know; anything else stays as it is.
 */
export function errorFromGlide(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error), { cause: error });
  const { message } = error;
  const known = /^An error was signalled by the server: - (\w+): (.*)$/s.exec(message);
  const word = ERROR_WORDS[known?.[1] ?? ''];
  if (word !== undefined) return new Error(`${word} ${known?.[2]}`, { cause: error });
  const other = /^([A-Z][A-Z0-9_]*): (.*)$/s.exec(message);
  if (other !== null) return new Error(`${other[1]} ${other[2]}`, { cause: error });
  if (message.startsWith('Reached maximum inflight requests')) {
    return new Error('The queue is full', { cause: error });
  }
  if (message.startsWith('Unable to execute requests; the client is closed')) {
    return new Error('The client is closed', { cause: error });
  }
  return error;
}
