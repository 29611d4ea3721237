import type { Command } from 'commander';
import { redactUrls } from './errors.js';

/** Where a report goes and where results are kept changes nothing about the run. */
const NOT_ABOUT_THE_RUN: ReadonlySet<string> = new Set(['format', 'out', 'results']);

/**
 * The command line that repeats a run: what the user gave, with the seed that was drawn when none was given. It is
 * stored and printed, so a password in an address is left out.
 */
export function repeatingCommandLine(command: Command, experiment: string, seed: number): string {
  const words = ['weir', 'run', experiment];
  for (const option of command.options) {
    const name = option.attributeName();
    const given = command.getOptionValueSource(name) === 'cli';
    if (!given || name === 'seed' || NOT_ABOUT_THE_RUN.has(name)) continue;
    const value: unknown = command.getOptionValue(name);
    words.push(option.long ?? option.flags);
    if (value !== true) words.push(quote(redactUrls(String(value))));
  }
  return [...words, '--seed', String(seed)].join(' ');
}

/** As a POSIX shell takes it. */
function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
