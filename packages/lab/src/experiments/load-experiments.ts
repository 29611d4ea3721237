import { loadVariants } from '../core/load-variants.js';
import type { Experiment } from './experiment.js';

const NOT_EXPERIMENTS = ['experiment', 'load-experiments'];

/** Every experiment by name: whatever lies in this folder. */
export function loadExperiments(): Promise<ReadonlyMap<string, Experiment>> {
  return loadVariants(new URL('./', import.meta.url), NOT_EXPERIMENTS, isExperiment);
}

function isExperiment(value: unknown): value is Experiment {
  return typeof value === 'object' && value !== null && 'question' in value && 'trial' in value;
}
