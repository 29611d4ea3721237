import { stripVTControlCharacters } from 'node:util';
import CliTable3 from 'cli-table3';

export interface Column {
  readonly head: string;
  readonly align?: 'left' | 'right';
}

/**
 * A table with one rule below its head and no other lines, as printed tables have it: it survives being pasted
 * into a mail or an issue. Cells may carry colour codes.
 *
 * @param indent columns left of the table
 */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  indent = 2,
): string[] {
  const table = new CliTable3({
    head: columns.map((column) => column.head),
    colAligns: columns.map((column) => column.align ?? 'left'),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2, compact: true },
    chars: NO_LINES,
  });
  table.push(...rows.map((row) => [...row]));
  const lines = table
    .toString()
    .split('\n')
    .map((line) => ' '.repeat(indent) + line.trimEnd());
  const [head = '', ...body] = lines;
  const widest = Math.max(...lines.map((line) => visibleLength(line)));
  return [head, ' '.repeat(indent) + '─'.repeat(widest - indent), ...body];
}

/** Columns a line takes: colour codes take none. */
function visibleLength(line: string): number {
  return stripVTControlCharacters(line).length;
}

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
} as const;
