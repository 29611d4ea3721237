import type { CommandOutcome, RedisClient, RedisReply } from '../../client/redis-client.js';
import { RedisReplyError } from '../../errors.js';

/** Entries of ours have one field of this name; its value is the envelope. */
export const FIELD = 'm';

export interface StreamEntry {
  readonly id: string;
  /** `undefined`: the entry is pending but was trimmed or deleted, its content is gone. */
  readonly raw: Buffer | undefined;
}

/** The id before every entry. */
export const BEFORE_ALL = '0-0';

/** The entries in the reply of an XREAD or XREADGROUP of one stream; none for nil. */
export function entriesOf(reply: RedisReply): StreamEntry[] {
  if (!Array.isArray(reply)) return [];
  const [stream] = reply;
  return Array.isArray(stream) ? entriesIn(stream[1] ?? null) : [];
}

/** The entries of a list of entries, as XRANGE answers. */
export function entriesIn(entries: RedisReply): StreamEntry[] {
  if (!Array.isArray(entries)) return [];
  const found: StreamEntry[] = [];
  for (const entry of entries) {
    if (!Array.isArray(entry)) continue;
    const [id, fields] = entry;
    found.push({ id: textOf(id), raw: Array.isArray(fields) ? contentOf(fields) : undefined });
  }
  return found;
}

/**
 * The value of a lone field. Other software may have written several: those are handed over as
 * `field NUL value NUL field NUL value`, in their order.
 */
function contentOf(fields: readonly RedisReply[]): Buffer {
  const value = fields[1];
  if (fields.length === 2 && Buffer.isBuffer(value)) return value;
  const parts: Buffer[] = [];
  for (const field of fields) {
    if (parts.length > 0) parts.push(Buffer.of(0));
    parts.push(Buffer.isBuffer(field) ? field : Buffer.from(String(field)));
  }
  return Buffer.concat(parts);
}

/** A field of XINFO: these replies are flat lists of names and values. */
export function fieldOf(reply: RedisReply, name: string): RedisReply | undefined {
  if (!Array.isArray(reply)) return undefined;
  for (let index = 0; index + 1 < reply.length; index += 2) {
    if (textOf(reply[index]) === name) return reply[index + 1];
  }
  return undefined;
}

export function textOf(reply: RedisReply | undefined): string {
  return Buffer.isBuffer(reply) ? reply.toString('latin1') : String(reply);
}

/** A list of ids, as XCLAIM JUSTID and the scripts answer. */
export function idsIn(reply: RedisReply | undefined): string[] {
  return Array.isArray(reply) ? reply.map(textOf) : [];
}

export function integerOf(reply: RedisReply | undefined): number {
  return typeof reply === 'number' ? reply : Number(reply ?? 0);
}

/** What XINFO STREAM says, as far as it is needed here. */
export interface StreamInfo {
  readonly length: number;
  /** Id of the newest entry ever added, also when it is gone. */
  readonly lastGeneratedId: string;
  /** Entries ever added; `undefined` before Redis 7. */
  readonly entriesAdded: number | undefined;
  /** Id of the oldest entry that is there; `undefined` in an empty stream. */
  readonly firstId: string | undefined;
  /** Highest id that XDEL ever removed, `0-0` for none; `undefined` before Redis 7. */
  readonly maxDeletedId: string | undefined;
}

const NO_STREAM: StreamInfo = {
  length: 0,
  lastGeneratedId: BEFORE_ALL,
  entriesAdded: 0,
  firstId: undefined,
  maxDeletedId: BEFORE_ALL,
};

/** @returns the state of an empty stream where the key does not exist. */
export function streamInfoOf(reply: RedisReply): StreamInfo {
  const added = fieldOf(reply, 'entries-added');
  const first = fieldOf(reply, 'first-entry');
  const deleted = fieldOf(reply, 'max-deleted-entry-id');
  return {
    length: integerOf(fieldOf(reply, 'length')),
    lastGeneratedId: textOf(fieldOf(reply, 'last-generated-id')),
    entriesAdded: added === undefined ? undefined : integerOf(added),
    firstId: Array.isArray(first) ? textOf(first[0]) : undefined,
    maxDeletedId: deleted === undefined ? undefined : textOf(deleted),
  };
}

/** @throws what became of an XINFO STREAM that was not answered, but for a missing key. */
export function streamInfoFrom(outcome: CommandOutcome | undefined): StreamInfo {
  if (outcome?.state === 'ok') return streamInfoOf(outcome.reply);
  if (isNoSuchKey(outcome?.error)) return NO_STREAM;
  throw outcome?.error ?? new Error('no outcome');
}

/** @throws what the client throws, but for a missing key. */
export async function readStreamInfo(client: Pick<RedisClient, 'send'>, key: string): Promise<StreamInfo> {
  try {
    return streamInfoOf(await client.send(['XINFO', 'STREAM', key]));
  } catch (error) {
    if (isNoSuchKey(error)) return NO_STREAM;
    throw error;
  }
}

export function isNoSuchKey(error: unknown): boolean {
  return error instanceof RedisReplyError && error.message.includes('no such key');
}

/** Orders entry ids `<milliseconds>-<sequence>`: negative when `a` is older. Both parts have up to 64 bits. */
export function compareIds(a: string, b: string): number {
  const [aMs = '0', aSequence = '0'] = a.split('-');
  const [bMs = '0', bSequence = '0'] = b.split('-');
  const byTime = BigInt(aMs) - BigInt(bMs);
  const difference = byTime === 0n ? BigInt(aSequence) - BigInt(bSequence) : byTime;
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

/** The smallest id after this one. */
export function nextId(id: string): string {
  const [ms = '0', sequence = '0'] = id.split('-');
  const next = BigInt(sequence) + 1n;
  return next < 2n ** 64n ? `${ms}-${next}` : `${BigInt(ms) + 1n}-0`;
}

/** Where messages go that were given up. */
export function deadLetterKey(key: string): string {
  return `${key}:dead`;
}
