import { loadVariants } from '../core/load-variants.js';
import type { Check } from './check.js';

const NOT_CHECKS = ['check', 'load-checks'];

/** Every check by name: whatever lies in this folder. */
export function loadChecks(): Promise<ReadonlyMap<string, Check>> {
  return loadVariants(new URL('./', import.meta.url), NOT_CHECKS, isCheck);
}

function isCheck(value: unknown): value is Check {
  return (
    typeof value === 'object' && value !== null && 'summary' in value && ('trial' in value || 'run' in value)
  );
}
