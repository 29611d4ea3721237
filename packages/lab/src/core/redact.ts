/**
 * The address of a server without user, password and query string: what may be shown and stored. A text that is no
 * URL of a host loses everything up to its last `@`, so a mistyped URL does not print its password either.
 */
export function redact(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || parsed.host === '') return url.replace(/^([a-z]+:\/\/)?.*@/is, '$1');
  const { protocol, host, pathname } = parsed;
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
