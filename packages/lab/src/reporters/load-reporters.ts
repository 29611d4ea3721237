import { loadVariants } from '../core/load-variants.js';
import type { Reporter } from './reporter.js';

/** Every reporter of this folder by name; a new file is offered by `--format` and `weir list reporters`. */
export function loadReporters(): Promise<ReadonlyMap<string, Reporter>> {
  return loadVariants(new URL('.', import.meta.url), ['reporter', 'load-reporters'], isReporter);
}

function isReporter(value: unknown): value is Reporter {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    'summary' in value &&
    'extension' in value &&
    'render' in value &&
    typeof value.render === 'function'
  );
}
