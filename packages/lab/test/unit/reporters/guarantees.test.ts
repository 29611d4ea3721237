import { describe, expect, it } from 'vitest';
import type { CompletedTrial, Guarantee } from '../../../src/measure/result.js';
import { text } from '../../../src/reporters/text.js';
import { planFixture, resultFixture, trialFixture } from '../../support/result-fixture.js';

const variant = (pattern: string, fault: string, persistence = 'none') => ({
  name: `${pattern} fault=${fault} persistence=${persistence}`,
  factors: { pattern, fault, persistence, point: 'after-read' },
  group: '',
  role: 'candidate' as const,
});
const VARIANTS = [
  variant('queue', 'poison'),
  variant('stream-group', 'poison'),
  variant('stream-group', 'redis-kill', 'always'),
  ...['reliable-queue', 'durable-pubsub', 'sharded-pubsub'].map((pattern) => variant(pattern, 'poison')),
];

function trial(
  name: string,
  guarantee: Guarantee,
  figures: Readonly<Record<string, number>>,
): CompletedTrial {
  const metrics = Object.fromEntries(
    Object.entries(figures).map(([metric, value]) => [
      metric,
      { value, unit: metric === 'recovery' ? 'ms' : 'messages' },
    ]),
  );
  return { ...trialFixture(name, 1, 1), metrics, guarantee };
}

const KEPT: Guarantee = { state: 'kept', promise: 'nothing lost', broken: [] };
const BROKEN: Guarantee = { state: 'broken', promise: 'exactly the 1 refused', broken: ['2 lost'] };

function render(width = 100): string {
  const [first = VARIANTS[0], second, third] = VARIANTS;
  return text.render(
    resultFixture({
      experiment: 'faults',
      plan: planFixture({ variants: VARIANTS, rounds: 1, order: [VARIANTS.map(({ name }) => name)] }),
      trials: [
        trial(first?.name ?? '', BROKEN, { lost: 2 }),
        trial(second?.name ?? '', KEPT, { lost: 0, deadLettered: 1, reordered: 3 }),
        trial(third?.name ?? '', KEPT, { lost: 0, duplicated: 4, recovery: 1234.5 }),
      ],
    }),
    { color: false, width },
  );
}

describe('the matrix of a run that is judged by guarantees', () => {
  it('has a row for each fault, a column for each pattern, and says what every mark means', () => {
    const report = render();
    expect(report).toMatch(/poison +✗ 2 +✓ 0 ~3 D1/);
    expect(report).toMatch(/redis-kill \(AOF always\) +· +✓ 0 \+4/);
    expect(report).toMatch(/redis-kill \(AOF always\) +· +1\.23 s/);
    const words = report.replace(/\s+/g, ' ');
    expect(words).toContain('how many acknowledged messages were lost');
    expect(words).toContain('+n: deliveries repeated');
  });

  it('says what each promises, and claims no verdict', () => {
    const report = render();
    expect(report).toMatch(/nothing lost\n +stream-group under poison, redis-kill \(AOF always\)/);
    expect(report).not.toContain('NO VERDICT');
    expect(report).not.toContain('Noise floor');
  });

  it('breaks into several tables where the width is small', () => {
    const narrow = render(60);
    const lost = narrow.slice(narrow.indexOf('What was lost'), narrow.indexOf('✓ the pattern'));
    expect(lost.match(/^ *fault /gm)).toHaveLength(3);
    expect(lost.split('\n').filter((line) => line.length > 60)).toEqual([]);
  });
});
