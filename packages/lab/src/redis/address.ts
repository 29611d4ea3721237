import { usageError } from '../core/errors.js';
import { redact } from '../core/redact.js';

export { redact };

const PROTOCOLS: ReadonlySet<string> = new Set(['redis:', 'rediss:']);

/**
 * Checks that a text can be the URL of a Redis.
 * @throws {WeirError} USAGE, with the address but without its password
 */
export function checkRedisUrl(option: string, url: string): void {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !PROTOCOLS.has(parsed.protocol) || parsed.hostname === '') {
    throw usageError(option, redact(url), 'redis://[user:password@]host[:port][/database] or rediss://…');
  }
}
