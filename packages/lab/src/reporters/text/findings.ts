import type { Result } from '../../measure/result.js';
import { type Style, wrap } from './style.js';

/** What a reader should take away, as the summary words it. */
export function findings(result: Result, style: Style): string[] {
  const sentences = result.summary.findings;
  return [
    style.heading('Findings'),
    ...(sentences.length > 0
      ? sentences.flatMap((sentence) => wrap(sentence, { width: style.width, first: '  • ' }))
      : wrap('None: no trial could be measured.', { width: style.width, first: '  ' })),
  ];
}
