import { expect, it } from 'vitest';
import { differences, limitSentence } from '../../../src/experiments/messaging/published-sentences.js';
import { comparisonFixture, planFixture, resultFixture } from '../../support/result-fixture.js';

const row = (variant: string, replayed: number, measured: number | null = null) => ({
  variant,
  published: null,
  replayed,
  measured,
});
const summaryWith = (verdict: 'faster' | 'tie') => ({
  ...resultFixture().summary,
  comparisons: [comparisonFixture({ verdict, sentence: `the verdict is ${verdict}` })],
});

it('says what the published method would say, and whether this run says the same', () => {
  const rows = [row('queue', 100), row('stream-group', 200)];
  expect(differences(rows, planFixture(), summaryWith('faster'))).toEqual([
    'As published, stream-group is 2.00 times as fast as queue. Here as well: the verdict is faster.',
  ]);
  expect(differences(rows, planFixture(), summaryWith('tie'))).toEqual([
    'As published, stream-group is 2.00 times as fast as queue. Here instead: the verdict is tie.',
  ]);
  expect(
    differences([row('queue', 100), row('stream-group', 101)], planFixture(), summaryWith('tie')),
  ).toEqual(['As published, stream-group is as fast as queue. Here as well: the verdict is tie.']);
});

it('says nothing of a pattern the run did not compare', () => {
  const [sentence] = differences([row('queue', 100), row('pubsub', 50)], planFixture(), summaryWith('tie'));
  expect(sentence).toBe(
    'As published, pubsub is slower than queue, 0.500 times its rate. This run did not compare them.',
  );
});

it('names the sequential sender when it hid most of the rate of every pattern', () => {
  expect(limitSentence([row('queue', 100, 5_000), row('pubsub', 100, 3_000)])[0]).toMatch(
    /at least 30\.0 times/,
  );
  expect(limitSentence([row('queue', 100, 5_000), row('pubsub', 100, 150)])).toEqual([]);
  expect(limitSentence([row('queue', 100)])).toEqual([]);
});
