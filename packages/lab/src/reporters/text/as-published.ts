import { significant } from '../../core/units.js';
import type { Result } from '../../measure/result.js';
import { type Style, wrap } from './style.js';
import { renderTable } from './table.js';

/** The published method beside the honest one, and the sentences that change. */
export function asPublished(result: Result, style: Style): string[] {
  const replay = result.summary.asPublished;
  if (replay === undefined) return [];
  const figure = (value: number | null): string => (value === null ? '–' : significant(value));
  return [
    style.heading('As published'),
    ...wrap(replay.method, { width: style.width, first: '  ' }),
    '',
    ...renderTable(
      [
        { head: 'variant' },
        { head: `published ${replay.unit}`, align: 'right' },
        { head: 'replayed here', align: 'right' },
        { head: 'this run', align: 'right' },
      ],
      replay.rows.map((row) => [
        row.variant,
        figure(row.published),
        figure(row.replayed),
        figure(row.measured),
      ]),
    ),
    '',
    ...replay.sentences.flatMap((sentence) => wrap(sentence, { width: style.width, first: '  • ' })),
  ];
}
