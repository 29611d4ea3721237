import { usageError } from '../core/errors.js';

const PROTOCOLS: ReadonlySet<string> = new Set(['redis:', 'rediss:']);

/**
 * The address of a Redis without user, password and query string: what may be shown and stored. A text that is no
 * URL loses everything up to its last `@`, so a mistyped URL does not print its password either.
 */
export function redact(url: string): string {
  if (!URL.canParse(url)) return url.replace(/^([a-z]+:\/\/)?.*@/is, '$1');
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

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
