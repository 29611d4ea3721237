import type { Result, Validity } from '../../measure/result.js';
import { plural } from './figures.js';
import { type Style, wrap } from './style.js';

/** Checks that failed or warned, with what was seen and what to do; those that passed are counted. */
export function checks(result: Result, style: Style): string[] {
  const raised = [...ofStatus(result, 'fail'), ...ofStatus(result, 'warn')];
  const passed = ofStatus(result, 'pass');
  return [
    style.heading('Checks'),
    ...raised.flatMap((check) => checkLines(check, style)),
    ...wrap(`${plural(passed.length, 'check')} passed${passed.length > 0 ? `: ${list(passed)}` : ''}`, {
      width: style.width,
      first: '  ',
      paint: style.quiet,
    }),
  ];
}

function ofStatus(result: Result, status: Validity['status']): Validity[] {
  return result.validity.filter((check) => check.status === status);
}

function list(passed: readonly Validity[]): string {
  return [...new Set(passed.map((check) => check.id))].join(', ');
}

function checkLines(check: Validity, style: Style): string[] {
  const isFailure = check.status === 'fail';
  const [head = '', ...rest] = wrap(`${check.id}: ${check.evidence}`, {
    width: style.width,
    first: isFailure ? '  FAIL  ' : '  warn  ',
  });
  const painted = isFailure
    ? head.replace('FAIL', style.bad('FAIL'))
    : head.replace('warn', style.caution('warn'));
  const remedy = check.remedy === '' ? [] : wrap(check.remedy, { width: style.width, first: '        → ' });
  return [painted, ...rest, ...remedy];
}
