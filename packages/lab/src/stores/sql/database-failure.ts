import { WeirError } from '../../core/errors.js';

/**
 * Whose fault a failed statement is. `outage`: the database is away or cannot work now, and the same statement may
 * succeed later. `conflict`: two transactions were in each other's way and one was rolled back whole. `refused`: it
 * will never be taken as it is.
 */
export type FailureKind = 'outage' | 'conflict' | 'refused';

/** What the system says when a server cannot be reached, whichever driver asks. */
const NETWORK_CODES: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

export function isNetworkFailure(error: unknown): boolean {
  return NETWORK_CODES.has(codeOf(error));
}

/** The `code` of an error, or an empty text. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/**
 * The error of a store for what a driver threw.
 * @param where address without credentials
 */
export function databaseFailure(where: string, kind: FailureKind, cause: unknown): WeirError {
  if (cause instanceof WeirError) return cause;
  const code = codeOf(cause);
  const said = reasonOf(cause);
  const reason = code === '' || said.includes(code) ? said : `${said} (${code})`;
  return kind === 'outage'
    ? new WeirError('STORE_UNREACHABLE', `the database ${where} is not available: ${reason}`, {
        cause,
        remedy:
          'check that it runs, that user, password and database of the address exist, and that it is not full',
      })
    : new WeirError('CANNOT_WRITE', `the database ${where} refuses to write: ${reason}`, { cause });
}

/** A name with several addresses fails with an AggregateError, whose own message is empty. */
function reasonOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join('; ');
  return cause instanceof Error ? cause.message : String(cause);
}

/** More often than this two batches do not meet by accident. */
const MOST_ATTEMPTS = 10;

/**
 * Does one transaction again while others were in its way: databases end a deadlock by rolling one side back.
 * @throws what the last attempt threw
 */
export async function repeatOnConflict<T>(
  kindOf: (error: unknown) => FailureKind,
  transaction: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction();
    } catch (error) {
      if (kindOf(error) !== 'conflict' || attempt === MOST_ATTEMPTS) throw error;
    }
  }
}
