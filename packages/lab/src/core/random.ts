/** A source of numbers that are uniform in [0, 1), like `Math.random`. */
export type Random = () => number;

/**
 * A seeded generator, so that a run, its order and its tests can be repeated to the digit: mulberry32 by Tommy
 * Ettinger (public domain; passes gjrand's and PractRand's tests at this size). Period 2^32: enough to order rounds
 * and to permute, never for anything secret.
 *
 * @param seed only its lower 32 bits count
 */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A shuffled copy: every order equally likely (Fisher-Yates, Durstenfeld's form). */
export function shuffle<T>(items: readonly T[], random: Random): T[] {
  const left = [...items];
  const shuffled: T[] = [];
  while (left.length > 0) shuffled.push(...left.splice(Math.floor(random() * left.length), 1));
  return shuffled;
}
