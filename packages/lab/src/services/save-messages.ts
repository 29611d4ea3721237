import { DependencyUnavailableError, type HandlerContext, type Message } from '@weir/patterns';
import { WeirError } from '../core/errors.js';
import type { Milliseconds } from '../core/units.js';
import type { MessageStore, SaveReceipt } from '../stores/message-store.js';

/** How long a consumer waits before it hands the same messages over again while the database is away. */
const RETRY_AFTER_MS: Milliseconds = 500;

/**
 * What a handler with a database behind it does: saves the batch. A database that is away is not the messages' fault,
 * so the consumer pauses and uses up no attempt; what the database refuses is.
 *
 * @param context from a consumer whose offset is kept here (`offset: { load: store.loadOffset }`), the offset goes into
 *   the same transaction
 * @throws {DependencyUnavailableError} the store cannot be reached or cannot write now
 */
export async function saveMessages(
  store: MessageStore,
  pattern: string,
  messages: readonly Message[],
  { offset }: HandlerContext = {},
): Promise<SaveReceipt> {
  try {
    if (offset === undefined) return await store.save(pattern, messages);
    return await store.saveWithOffset(pattern, messages, offset);
  } catch (cause) {
    if (!isOutage(cause)) throw cause;
    throw new DependencyUnavailableError(cause.message, { cause, retryAfterMs: RETRY_AFTER_MS });
  }
}

/** A SQLite file is never away, but its disk can be full and its lock can be held. */
const FILE_OUTAGES = /^(SQLITE_(FULL|BUSY|IOERR|READONLY|CANTOPEN|LOCKED)|ENOSPC|EROFS)/;

function isOutage(error: unknown): error is WeirError {
  if (!(error instanceof WeirError)) return false;
  if (error.code === 'STORE_UNREACHABLE') return true;
  const { cause } = error;
  return cause instanceof Error && 'code' in cause && FILE_OUTAGES.test(String(cause.code));
}
