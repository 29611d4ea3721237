import { usageError } from '../../core/errors.js';
import { redact } from '../../core/redact.js';

/** How the address of a database server is written; the port has the default of the database. */
export function databaseAddress(scheme: string): string {
  return `${scheme}://[user[:password]@]host[:port]/database`;
}

/**
 * Checks that a text can be the address of a database on a server.
 * @param option where it came from, for the message
 * @throws {WeirError} USAGE, with the address but without its password
 */
export function checkDatabaseUrl(option: string, scheme: string, address: string): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const names = url?.protocol === `${scheme}:` && url.hostname !== '' && /^\/[^/]+$/.test(url.pathname);
  if (!names) throw usageError(option, redact(address), databaseAddress(scheme));
}
