import { seededRandom, shuffle } from '../../src/core/random.js';
import type { MetricDefinition } from '../../src/measure/measurement.js';
import type { Plan, Trial, Variant } from '../../src/measure/result.js';
import type { JudgedRun } from '../../src/runner/verdict.js';
import { planFixture, trialFixture } from './result-fixture.js';

export const THROUGHPUT: MetricDefinition = {
  name: 'throughput',
  unit: 'msg/s',
  better: 'higher',
  compared: true,
  description: 'Messages handled per second.',
  comparison: 'handles {ratio} times as many messages per second as',
};

export interface Simulation {
  readonly seed: number;
  readonly rounds: number;
  /** True speed of each variant, the baseline first. */
  readonly speeds: readonly number[];
  /** Coefficient of variation of a trial; measured of messaging trials: 0.046. */
  readonly variation: number;
  /** Chance that something else on the machine hits a round: one of its trials then runs at 40 to 90 % of its speed. */
  readonly disturbed?: number;
  readonly precision?: Plan['precision'];
  readonly margin?: number;
}

/** A run as the runner would make it (A/A copy, random order) of trials with log-normal figures. */
export function simulateRun({
  seed,
  rounds,
  speeds,
  variation,
  disturbed = 0,
  ...rest
}: Simulation): JudgedRun {
  const random = seededRandom(seed);
  const sigma = Math.sqrt(Math.log1p(variation ** 2));
  const variants = variantsOf(speeds.length);
  const speedOf = new Map(variants.map(({ name }, index) => [name, speeds[index] ?? speeds[0] ?? 1]));
  const order = Array.from({ length: rounds }, () =>
    shuffle(
      variants.map(({ name }) => name),
      random,
    ),
  );
  const trials = order.flatMap((names, round): Trial[] => {
    const hit = random() < disturbed ? Math.floor(random() * names.length) : undefined;
    const whole = Math.exp(0.1 * normal(random)); // what is common to a round cancels out
    return names.map((name, position) => {
      const slowed = position === hit ? 0.4 + 0.5 * random() : 1;
      const value = 30_000 * (speedOf.get(name) ?? 1) * whole * slowed * Math.exp(sigma * normal(random));
      return trialFixture(name, round + 1, position + 1, {
        metrics: { throughput: { value, unit: 'msg/s' } },
      });
    });
  });
  const plan = planFixture({
    rounds,
    order,
    seed,
    variants,
    factors: { pattern: variants.filter(({ role }) => role !== 'a-a').map(({ name }) => name), batch: [100] },
    margin: rest.margin ?? 0.03,
    precision: rest.precision ?? 'custom',
  });
  return { plan, trials, metrics: [THROUGHPUT] };
}

/** The variants by number, then the second copy of the baseline. */
function variantsOf(count: number): Variant[] {
  const named = (name: string, pattern: string, role: Variant['role']): Variant => ({
    name,
    factors: { pattern, batch: 100 },
    group: '',
    role,
  });
  const variants = Array.from({ length: count }, (_, index) =>
    named(`pattern-${index}`, `pattern-${index}`, index === 0 ? 'baseline' : 'candidate'),
  );
  return [...variants, named('pattern-0 (A/A)', 'pattern-0', 'a-a')];
}

/** Standard normal by Box and Muller. */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
