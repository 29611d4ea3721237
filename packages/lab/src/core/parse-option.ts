import { usageError } from './errors.js';

/** Strict readings of option texts: `1e9x`, `0x10`, ` 5` and `5.0` are no integers. All throw USAGE. */

/** The text of an option; `undefined` for a flag and for an option that was left out. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export interface IntegerRange {
  readonly min: number;
  readonly max?: number;
}

/** A whole number in decimal digits. */
export function parseInteger(option: string, text: string, { min, max }: IntegerRange): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER))) {
    throw usageError(
      option,
      text,
      `a whole number ${max === undefined ? `of at least ${min}` : `from ${min} to ${max}`}`,
    );
  }
  return value;
}

/** A number with an optional fraction, above zero. */
export function parsePositive(option: string, text: string, max = Number.MAX_SAFE_INTEGER): number {
  const value = /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value > 0 && value <= max)) throw usageError(option, text, `a number above 0 and up to ${max}`);
  return value;
}

/** A share: a number from 0 to 1. */
export function parseShare(option: string, text: string): number {
  const value = /^\d(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= 1)) throw usageError(option, text, 'a number from 0 to 1');
  return value;
}

/** `a,b,c` without empty or repeated parts. */
export function parseList(option: string, text: string): string[] {
  const parts = text.split(',').map((part) => part.trim());
  if (parts.some((part) => part === '')) throw usageError(option, text, 'a list without empty parts: a,b,c');
  const repeated = parts.find((part, index) => parts.indexOf(part) !== index);
  if (repeated !== undefined)
    throw usageError(option, text, `a list without repetitions; ${repeated} is there twice`);
  return parts;
}

/** One of the given words. */
export function parseChoice<Choice extends string>(
  option: string,
  text: string,
  choices: readonly Choice[],
): Choice {
  const choice = choices.find((candidate) => candidate === text);
  if (choice === undefined) throw usageError(option, text, `one of ${choices.join(', ')}`);
  return choice;
}
