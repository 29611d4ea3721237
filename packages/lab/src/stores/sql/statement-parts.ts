import type { StoredMessage } from '../message-store.js';

/** What one statement may hold. */
export interface StatementLimits {
  readonly rows: number;
  /** Of ids and bodies together. */
  readonly bytes: number;
}

/**
 * Cuts a batch into what fits one statement each; nearly always that is the whole of it. Sorted by id, so that two
 * consumers that save the same messages take their locks in the same order and do not block each other for ever.
 */
export function statementParts(
  messages: readonly StoredMessage[],
  { rows, bytes }: StatementLimits,
): StoredMessage[][] {
  const sorted = messages.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  const parts: StoredMessage[][] = [];
  let part: StoredMessage[] = [];
  let size = 0;
  for (const message of sorted) {
    // A body that is no buffer is for the database to refuse.
    const needs = Buffer.byteLength(message.id) + (message.body?.length ?? 0);
    if (part.length > 0 && (part.length === rows || size + needs > bytes)) {
      parts.push(part);
      part = [];
      size = 0;
    }
    part.push(message);
    size += needs;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}
