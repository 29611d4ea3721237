import { significant } from '../../core/units.js';
import type { NoiseFloor, Result } from '../../measure/result.js';
import { formatDifference, formatDifferenceInterval, words } from './figures.js';
import { type Style, wrap } from './style.js';

/** What two identical variants differed by: the size below which a difference means nothing on this machine. */
export function noiseFloor(result: Result, style: Style): string[] {
  const floors = result.summary.noiseFloor;
  if (floors.length === 0) return [];
  return [
    style.heading('Noise floor'),
    ...wrap('The baseline ran twice in every round. Between these identical copies:', {
      width: style.width,
      first: '  ',
    }),
    ...floors.flatMap((floor) => wrap(sentence(floor), { width: style.width, first: '    ' })),
  ];
}

function sentence(floor: NoiseFloor): string {
  const subject = [floor.group, words(floor.metric)].filter((part) => part !== '').join(', ');
  const difference = `${subject}: ${formatDifference(floor.ratio)}`;
  if (floor.ci95 === null || floor.halfWidth === null) return `${difference}, too few rounds for an interval`;
  return `${difference} ${formatDifferenceInterval(floor.ci95)}; below ${significant(floor.halfWidth * 100)} % is noise`;
}
