import { mean } from 'simple-statistics';
import { type Random, seededRandom, shuffle } from '../core/random.js';
import type { Result } from '../measure/result.js';
import { permutationPValue } from '../measure/statistics.js';
import { type Check, pass, warn } from './check.js';

const PERMUTATIONS = 2000;
/** Over all compared metrics together (Bonferroni): one false warning in a hundred runs. */
const ALPHA = 0.01;
const FEWEST_ROUNDS = 4;

/**
 * Does the place within the round explain the result (the server warms up, the disk fills, the machine gets hot)?
 *
 * Of every log figure the means of its variant and of its round are taken away; what is left is summed by position. The
 * statistic is the sum of squares between positions, held against the same sum after shuffling the residuals within
 * each round: the very randomisation by which the order was made (Edgington & Onghena, *Randomization Tests*, 2007).
 *
 * Only a warning: the random order has already turned the effect into noise that hits all variants alike.
 */
export const orderEffect = {
  name: 'order-effect',
  summary: 'warns when the position within the round explains the result (permutation test)',
  run: ({ result, metrics }) => {
    const compared = metrics.filter((metric) => metric.compared);
    const tested = compared.flatMap(({ name }) => {
      const rounds = residualsByRound(result, name);
      if (rounds.length < FEWEST_ROUNDS) return [];
      const random = seededRandom(result.plan.seed);
      const observed = betweenPositions(rounds);
      const p = permutationPValue(observed, () => betweenPositions(shuffled(rounds, random)), PERMUTATIONS);
      return [{ p, words: `${name}: p = ${p.toFixed(4)}, positions differ by up to ${spread(rounds)} %` }];
    });
    if (tested.length === 0) return undefined;
    const evidence = `position within the round, permutation test: ${tested.map(({ words }) => words).join('; ')}`;
    if (tested.every(({ p }) => p > ALPHA / tested.length)) return pass(evidence);
    return warn(
      evidence,
      'the random order keeps the comparison fair, but the effect adds noise: use a longer warm-up or more rounds',
    );
  },
} satisfies Check;

interface Residual {
  readonly position: number;
  readonly value: number;
}

function residualsByRound({ trials }: Pick<Result, 'trials'>, metric: string): Residual[][] {
  const figures = trials.flatMap((trial) => {
    const value = trial.state === 'measured' ? (trial.metrics[metric]?.value ?? 0) : 0;
    return value > 0 ? [{ ...trial, value: Math.log(value) }] : [];
  });
  const withoutVariant = centre(figures, ({ variant }) => variant);
  const centred = centre(withoutVariant, ({ round }) => round);
  return groupBy(centred, ({ round }) => round).filter((round) => round.length > 1);
}

/** Takes from each value the mean of the values with the same key. */
function centre<T extends { readonly value: number }>(items: readonly T[], key: (item: T) => unknown): T[] {
  return groupBy(items, key).flatMap((group) => {
    const average = mean(group.map(({ value }) => value));
    return group.map((item) => ({ ...item, value: item.value - average }));
  });
}

function groupBy<T>(items: readonly T[], key: (item: T) => unknown): T[][] {
  const groups = new Map<unknown, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

function shuffled(rounds: readonly (readonly Residual[])[], random: Random): Residual[][] {
  return rounds.map((round) => {
    const donors = shuffle(round, random);
    return round.map(({ position }, index) => ({ position, value: donors[index]?.value ?? 0 }));
  });
}

interface PositionSum {
  count: number;
  sum: number;
}

function sumByPosition(rounds: readonly (readonly Residual[])[]): PositionSum[] {
  const sums = new Map<number, PositionSum>();
  for (const round of rounds) {
    for (const { position, value } of round) {
      const known = sums.get(position);
      if (known === undefined) {
        sums.set(position, { count: 1, sum: value });
      } else {
        known.count++;
        known.sum += value;
      }
    }
  }
  return [...sums.values()];
}

function betweenPositions(rounds: readonly (readonly Residual[])[]): number {
  return sumByPosition(rounds).reduce((total, { count, sum }) => total + sum ** 2 / count, 0);
}

/** Largest ratio between two positions, in per cent. */
function spread(rounds: readonly (readonly Residual[])[]): string {
  const averages = sumByPosition(rounds).map(({ count, sum }) => sum / count);
  return (Math.expm1(Math.max(...averages) - Math.min(...averages)) * 100).toFixed(1);
}
