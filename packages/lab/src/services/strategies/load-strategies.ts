import { unknownName } from '../../core/errors.js';
import { loadVariants } from '../../core/load-variants.js';
import type { ConnectionStrategy } from './strategy.js';

const NOT_STRATEGIES = ['strategy', 'load-strategies'];

/** Every connection strategy by name: whatever lies in this folder. */
export function loadStrategies(): Promise<ReadonlyMap<string, ConnectionStrategy>> {
  return loadVariants(new URL('./', import.meta.url), NOT_STRATEGIES, isStrategy);
}

/** @throws {WeirError} UNKNOWN_NAME with those that exist */
export async function strategyNamed(name: string): Promise<ConnectionStrategy> {
  const known = await loadStrategies();
  const strategy = known.get(name);
  if (strategy === undefined) throw unknownName('strategy', name, [...known.keys()]);
  return strategy;
}

function isStrategy(value: unknown): value is ConnectionStrategy {
  return typeof value === 'object' && value !== null && 'capabilities' in value && 'open' in value;
}
