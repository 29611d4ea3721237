import type { Comparison, Result, Verdict } from '../../measure/result.js';
import { groupsOf } from './figures.js';
import { type Style, wrap } from './style.js';

/** One sentence per comparison, opened by its verdict in one word. */
export function verdicts(result: Result, style: Style): string[] {
  const { comparisons } = result.summary;
  if (comparisons.length === 0) return [];
  const lines = [style.heading('Verdicts')];
  for (const group of groupsOf(result).keys()) {
    const ofGroup = comparisons.filter((comparison) => comparison.group === group);
    if (ofGroup.length > 0 && group !== '') lines.push(`  ${style.strong(group)}`);
    for (const comparison of ofGroup) lines.push(...verdictLines(comparison, style));
  }
  return lines;
}

function verdictLines(comparison: Comparison, style: Style): string[] {
  const word = WORDS[comparison.verdict];
  const first = `    ${word.padEnd(WIDEST)}  `;
  const [head = '', ...rest] = wrap(comparison.sentence, { width: style.width, first });
  return [head.replace(word, TONES[comparison.verdict](style, word)), ...rest];
}

const WORDS = {
  faster: 'faster',
  slower: 'slower',
  tie: 'tie',
  small: 'small',
  inconclusive: 'inconclusive',
  none: 'no verdict',
} as const satisfies Record<Verdict, string>;

const WIDEST = Math.max(...Object.values(WORDS).map((word) => word.length));

const TONES = {
  faster: (style, text) => style.good(text),
  slower: (style, text) => style.bad(text),
  tie: (_, text) => text,
  small: (_, text) => text,
  inconclusive: (style, text) => style.caution(text),
  none: (style, text) => style.quiet(text),
} as const satisfies Record<Verdict, (style: Style, text: string) => string>;
