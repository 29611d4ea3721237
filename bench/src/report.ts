import { renderTable, significant } from './lab.js';
import type { Line } from './line.js';
import { UNITS } from './measurements/measurement.js';
import type { Progress } from './rounds.js';
import type { LeftOut } from './selection.js';

/** For people: the figures, then what was compared, line by line; a line that was left out says why. */
export function table(lines: readonly Line[], leftOut: readonly LeftOut[]): string {
  const measured = lines.map((line) => [
    line.name,
    significant(line.ratio),
    `[${line.ci95.map(significant).join(', ')}]`,
    `${line.better === 'higher' ? '>=' : '<='} ${line.target}`,
    line.met ? 'met' : 'MISSED',
  ]);
  const rows = [...measured, ...leftOut.map(({ name }) => [name, '', '', '', 'not measured'])];
  const columns = [
    { head: 'line' },
    { head: 'ratio', align: 'right' },
    { head: '95 % interval', align: 'right' },
    { head: 'target', align: 'right' },
    { head: '' },
  ] as const;
  const missed = lines.filter((line) => !line.met).length;
  const met = missed === 0 ? 'all targets met' : `${missed} of ${lines.length} targets missed`;
  return [
    ...renderTable(columns, rows),
    '',
    ...[...lines, ...leftOut].map(({ name, detail }) => `  ${name}: ${detail}`),
    '',
    leftOut.length === 0 ? `  ${met}` : `  ${met}, ${leftOut.length} not measured`,
  ].join('\n');
}

/** For programs: what was measured. A line that was left out is not in it. */
export function json(lines: readonly Line[]): string {
  return JSON.stringify(lines, null, 2);
}

/** One line a trial: `12/98 drain · BullMQ 6.7: 8,120 msg/s`. */
export function progressLine({ record, label, played, trials }: Progress): string {
  const figures = Object.entries(UNITS).flatMap(([name, unit]) => {
    const value = Object.entries(record.figures).find(([figure]) => figure === name)?.[1];
    return value === undefined ? [] : [`${significant(value)} ${unit}`];
  });
  return `${played}/${trials} ${record.measurement} · ${label}: ${figures.join(', ')}`;
}
