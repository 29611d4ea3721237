import type { Random } from '../core/random.js';

/** Where a point lives. */
export function pointKey(keyPrefix: string, id: number): string {
  return `${keyPrefix}weir:point:${id}`;
}

/** Random ids of the point service. */
export interface PointIds {
  /** One of the entries. */
  existing(): number;
  /** One to look up: an entry with the probability of the hit rate, otherwise one beyond them. */
  wanted(): number;
}

export interface PointIdOptions {
  readonly entries: number;
  readonly hitRate: number;
  readonly random: Random;
}

/**
 * Ids as the original drew them, except that the share of hits is planned: there, about 99 % of the lookups missed and
 * nobody had meant it.
 */
export function pointIds({ entries, hitRate, random }: PointIdOptions): PointIds {
  const draw = (): number => 1 + Math.floor(random() * entries);
  return {
    existing: draw,
    wanted: () => (random() < hitRate ? draw() : entries + draw()),
  };
}
