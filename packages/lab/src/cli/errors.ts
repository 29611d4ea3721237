import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import { ExitCode, WeirError } from '../core/errors.js';
import { redact } from '../core/redact.js';

/**
 * Says on stderr what went wrong and what to do, and returns the exit code. The stack is for those who debug weir:
 * WEIR_DEBUG=1 shows it.
 */
export function printError(error: unknown): ExitCode {
  // Commander has printed its message already. Help and version end with 0, everything else is wrong usage.
  if (error instanceof CommanderError) return error.exitCode === 0 ? ExitCode.done : ExitCode.usage;
  process.stderr.write(redactUrls(`${describe(error)}\n`));
  if (process.env.WEIR_DEBUG === '1') process.stderr.write(redactUrls(`${inspect(error)}\n`));
  return error instanceof WeirError ? error.exitCode : ExitCode.software;
}

function describe(error: unknown): string {
  if (error instanceof WeirError) {
    return `weir: ${error.message}${error.remedy === undefined ? '' : `\n  ${error.remedy}`}`;
  }
  const message = error instanceof Error ? error.message : String(error);
  return `weir: unexpected error: ${message}\n  this is a defect of weir; WEIR_DEBUG=1 shows where it happened`;
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

export function printWarning(message: string): void {
  process.stderr.write(redactUrls(`weir: warning: ${message}\n`));
}

/** Where something went; on stderr, because stdout belongs to the document. */
export function printNote(message: string): void {
  process.stderr.write(redactUrls(`weir: ${message}\n`));
}
