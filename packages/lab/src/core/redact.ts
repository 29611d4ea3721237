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

/**
 * Every URL in a text without user and password, whoever put it there. Left alone: files, whose paths may hold `@`,
 * and how an address is written in help, `mysql://[user[:password]@]host`.
 */
export function redactUrls(text: string): string {
  return text.replace(/\b(?!file:)[a-z][a-z0-9+.-]*:\/\/(?!\[user\b)[^\s'"`]+/gi, (url) =>
    url.includes('@') ? redact(url) : url,
  );
}
