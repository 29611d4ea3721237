import type { CompletedTrial, Result } from '../../measure/result.js';
import { faultLabel, recoveryTime } from './fault-label.js';
import { NO_FIGURE } from './figures.js';
import { type Style, wrap } from './style.js';
import { type Column, renderTable } from './table.js';

const NOT_APPLICABLE = '·';
const LEGEND = [
  '✓ the pattern kept the guarantee it declares; ✗ it did not. The number is how many acknowledged messages were lost.',
  '+n: deliveries repeated. ~n: messages that came after later ones. D n: messages that ended among the dead letters and were sent again.',
  '? the trial is not valid and says nothing (see Trials left out). · the fault cannot happen to this pattern.',
  'Several rounds of a cell show the worst. Time to recover: from the fault until a message sent after it was handled.',
];

/** Whether the run is about promises rather than about figures. */
export function hasGuarantees(result: Result): boolean {
  return result.trials.some((trial) => trial.state !== 'failed' && trial.guarantee !== undefined);
}

/** What was lost, and how long it took to recover: a row for each fault, a column for each pattern. */
export function guarantees(result: Result, style: Style): string[] {
  const matrix = matrixOf(result);
  return [
    style.heading('What was lost'),
    ...matrixLines(matrix, style, (cell) => lossCell(cell, style)),
    '',
    ...LEGEND.flatMap((line) => wrap(line, { width: style.width, first: '  ', paint: style.quiet })),
    '',
    style.heading('Time to recover'),
    ...matrixLines(matrix, style, recoveryCell),
    '',
    style.heading('What each promises'),
    ...promises(matrix, style),
  ];
}

type Cell = readonly CompletedTrial[];

interface Matrix {
  readonly patterns: readonly string[];
  /** By fault in words, then by pattern. A pattern that was not tried has no entry, an empty cell no trial that counts. */
  readonly rows: ReadonlyMap<string, ReadonlyMap<string, Cell>>;
}

function matrixOf({ plan, trials }: Result): Matrix {
  const rows = new Map<string, Map<string, Cell>>();
  const sorted = [...plan.variants].sort((a, b) => (faultLabel(a.factors) < faultLabel(b.factors) ? -1 : 1));
  for (const { name, factors } of sorted) {
    const row = rows.get(faultLabel(factors)) ?? new Map<string, Cell>();
    const own = trials.filter(
      (trial): trial is CompletedTrial => trial.variant === name && trial.state === 'measured',
    );
    rows.set(faultLabel(factors), row.set(String(factors.pattern), own));
  }
  return { patterns: [...new Set(plan.variants.map(({ factors }) => String(factors.pattern)))], rows };
}

/** As many patterns side by side as the width has room for. */
function matrixLines({ patterns, rows }: Matrix, style: Style, show: (cell: Cell) => string): string[] {
  const first = Math.max(...[...rows.keys()].map((name) => name.length));
  const widest = Math.max(...patterns.map((name) => name.length), 8) + 2;
  const perTable = Math.max(1, Math.floor((style.width - first - 4) / widest));
  const lines: string[] = [];
  for (let from = 0; from < patterns.length; from += perTable) {
    const shown = patterns.slice(from, from + perTable);
    const columns: Column[] = [{ head: 'fault' }, ...shown.map((head): Column => ({ head }))];
    const body = [...rows].map(([name, row]) => [
      name,
      ...shown.map((pattern) => {
        const cell = row.get(pattern);
        return cell === undefined ? style.quiet(NOT_APPLICABLE) : show(cell);
      }),
    ]);
    lines.push(...(from > 0 ? [''] : []), ...renderTable(columns, body));
  }
  return lines;
}

function lossCell(cell: Cell, style: Style): string {
  if (cell.length === 0) return style.caution('?');
  const isBroken = cell.some(({ guarantee }) => guarantee?.state === 'broken');
  const worst = (name: string): number => Math.max(...cell.map(({ metrics }) => metrics[name]?.value ?? 0));
  const marks = [
    String(worst('lost')),
    ...(worst('duplicated') > 0 ? [`+${worst('duplicated')}`] : []),
    ...(worst('reordered') > 0 ? [`~${worst('reordered')}`] : []),
    ...(worst('deadLettered') > 0 ? [`D${worst('deadLettered')}`] : []),
  ].join(' ');
  return isBroken ? style.bad(`✗ ${marks}`) : `${style.good('✓')} ${marks}`;
}

function recoveryCell(cell: Cell): string {
  const times = cell.flatMap(({ metrics }) => metrics.recovery?.value ?? []);
  if (times.length === 0) return NO_FIGURE;
  return recoveryTime(Math.max(...times));
}

/** One line for each promise, with the patterns and faults that share it. */
function promises({ rows }: Matrix, style: Style): string[] {
  const sharing = new Map<string, Map<string, string[]>>();
  for (const [fault, row] of rows) {
    for (const [pattern, cell] of row) {
      const promise = cell[0]?.guarantee?.promise;
      if (promise === undefined) continue;
      const faults = sharing.get(promise) ?? new Map<string, string[]>();
      sharing.set(promise, faults.set(fault, [...(faults.get(fault) ?? []), pattern]));
    }
  }
  return [...sharing].flatMap(([promise, faults]) => {
    const byPatterns = new Map<string, string[]>();
    for (const [fault, patterns] of faults) {
      const key = patterns.join(', ');
      byPatterns.set(key, [...(byPatterns.get(key) ?? []), fault]);
    }
    const cases = [...byPatterns].map(([patterns, names]) => `${patterns} under ${names.join(', ')}`);
    return [
      ...wrap(promise, { width: style.width, first: '  ', paint: style.strong }),
      ...cases.flatMap((text) => wrap(text, { width: style.width, first: '    ', paint: style.quiet })),
    ];
  });
}
