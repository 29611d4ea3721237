import { loadVariants } from '../core/load-variants.js';
import type { Fault } from './fault.js';

/** Files of the folder that are no faults. */
const NOT_FAULTS = ['fault', 'load-faults', 'tcp-proxy'];

/** Every fault by name: whatever lies in this folder. */
export function loadFaults(): Promise<ReadonlyMap<string, Fault>> {
  return loadVariants(new URL('./', import.meta.url), NOT_FAULTS, isFault);
}

function isFault(value: unknown): value is Fault {
  return typeof value === 'object' && value !== null && 'kind' in value && 'points' in value;
}
