import type { Result } from '../measure/result.js';
import type { Reporter } from './reporter.js';

/**
 * The stored result as it is, for `jq` and for other programs. Nothing is rounded, left out or added, so it
 * validates against `weir/result.schema.json` and every other report can be made from it again.
 */
export const json = {
  name: 'json',
  summary: 'the whole result, as described by weir/result.schema.json',
  extension: 'json',
  render: (result: Result) => `${JSON.stringify(result, null, 2)}\n`,
} satisfies Reporter;
