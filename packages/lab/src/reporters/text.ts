import type { Result } from '../measure/result.js';
import type { Reporter, ReportOptions } from './reporter.js';
import { asPublished } from './text/as-published.js';
import { checks } from './text/checks.js';
import { findings } from './text/findings.js';
import { guarantees, hasGuarantees } from './text/guarantees.js';
import { leftOut } from './text/left-out.js';
import { noiseFloor } from './text/noise-floor.js';
import { reproduce } from './text/reproduce.js';
import { createStyle, type Style } from './text/style.js';
import { tables } from './text/tables.js';
import { title } from './text/title.js';
import { verdicts } from './text/verdicts.js';

/**
 * The report for people: what to take away first, then what it rests on, then how to make it again. A reader
 * who stops after any section has not been misled, so what limits the findings (an invalid run, an exploratory
 * one) stands above them.
 */
export const text = {
  name: 'text',
  summary: 'findings, verdicts, tables, noise floor and how to reproduce, for people',
  extension: 'txt',
  render(result: Result, options: ReportOptions): string {
    const style = createStyle(options);
    const chosen = hasGuarantees(result) ? GUARANTEE_SECTIONS : SECTIONS;
    const sections = chosen.map((section) => section(result, style)).filter((lines) => lines.length > 0);
    return `${sections.map((lines) => lines.join('\n')).join('\n\n')}\n`;
  },
} satisfies Reporter;

/** A part of the report as lines; none when there is nothing to say. */
type Section = (result: Result, style: Style) => string[];

const SECTIONS: readonly Section[] = [
  title,
  findings,
  verdicts,
  tables,
  asPublished,
  noiseFloor,
  checks,
  leftOut,
  reproduce,
];

/** Nothing is ranked where a promise is kept or broken: the matrix takes the place of verdicts and figures. */
const GUARANTEE_SECTIONS: readonly Section[] = [
  title,
  findings,
  guarantees,
  asPublished,
  checks,
  leftOut,
  reproduce,
];
