import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import { ExitCode, WeirError } from '../core/errors.js';
import { redactUrls } from '../core/redact.js';

export { redactUrls };

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

export function printWarning(message: string): void {
  process.stderr.write(redactUrls(`weir: warning: ${message}\n`));
}

/** Where something went; on stderr, because stdout belongs to the document. */
export function printNote(message: string): void {
  process.stderr.write(redactUrls(`weir: ${message}\n`));
}
