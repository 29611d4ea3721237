import type { MessagingPattern } from '@weir/patterns';
import { loadVariants } from './load-variants.js';

/** Files of the folder that are no patterns. */
const NOT_PATTERNS = ['pattern'];

/** Every messaging pattern of `@weir/patterns`, by name: whatever lies in its `messaging` folder. */
export function loadPatterns(): Promise<ReadonlyMap<string, MessagingPattern>> {
  const folder = new URL('./messaging/', import.meta.resolve('@weir/patterns'));
  return loadVariants(folder, NOT_PATTERNS, isPattern);
}

function isPattern(value: unknown): value is MessagingPattern {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    'capabilities' in value &&
    'createProducer' in value &&
    'createConsumer' in value
  );
}
