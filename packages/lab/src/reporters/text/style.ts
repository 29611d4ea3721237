import { stripVTControlCharacters, styleText } from 'node:util';
import type { ReportOptions } from '../reporter.js';

/** How the text report looks: its colours and its width. Sections say what a text is, never which colour. */
export interface Style {
  /** Columns, at least 60: below that, wrapping does more harm than a terminal's own. */
  readonly width: number;
  heading(text: string): string;
  strong(text: string): string;
  quiet(text: string): string;
  good(text: string): string;
  caution(text: string): string;
  bad(text: string): string;
}

export function createStyle(options: ReportOptions): Style {
  const paint = (format: Parameters<typeof styleText>[0]) => (text: string) =>
    // Whether colour is wanted was decided by the caller, for the stream it will go to.
    options.color && text !== '' ? styleText(format, text, { validateStream: false }) : text;
  return {
    width: Math.max(60, options.width),
    heading: paint(['bold', 'underline']),
    strong: paint('bold'),
    quiet: paint('dim'),
    good: paint('green'),
    caution: paint('yellow'),
    bad: paint('red'),
  };
}

export interface WrapOptions {
  readonly width: number;
  /** What the first line begins with: `  • `. Plain text; its length is the indent of the lines that follow. */
  readonly first?: string;
  /** Applied to each line's words after wrapping, so that colour codes never count as columns. */
  readonly paint?: (text: string) => string;
}

/**
 * Breaks a sentence into lines of at most `width` columns, with a hanging indent. A single word longer than a
 * line stays whole, so that paths, digests and commands can still be copied.
 */
export function wrap(sentence: string, options: WrapOptions): string[] {
  const first = options.first ?? '';
  const room = options.width - first.length;
  const lines: string[] = [];
  let line = '';
  for (const word of plain(sentence).split(/\s+/).filter(Boolean)) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  lines.push(line);
  const paint = options.paint ?? ((text: string) => text);
  return lines.map((text, index) => (index === 0 ? first : ' '.repeat(first.length)) + paint(text));
}

/** Words of errors and evidence may come from other programs: what could steer the terminal is taken out. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is removed
  return stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}
