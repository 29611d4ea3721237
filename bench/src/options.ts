import { parseArgs } from 'node:util';
import { parseInteger, parseList, usageError } from './lab.js';
import { measurements } from './measurements/all.js';

export interface BenchOptions {
  /** Names of the lines that are measured. */
  readonly lines: ReadonlySet<string>;
  readonly rounds: number;
  /** Share of the messages of a full trial. */
  readonly scale: number;
  readonly seed: number;
  readonly format: 'table' | 'json';
}

export const USAGE = `usage: npm run bench -- [options]

  --only a,b     items (a to i) or names of lines, by comma; default: all
  --rounds N     trials of each side; default 7, the fewest full ones that leave room for a disturbed one
  --quick        6 rounds of a tenth of the messages, for a look
  --seed N       of the order within the rounds; default 1
  --json         an array of {name, ratio, ci95, target, better, detail, met} on stdout
  --help         this text`;

const DEFAULT_ROUNDS = 7;
const QUICK_ROUNDS = 6;
const QUICK_SCALE = 0.1;
const MOST_ROUNDS = 100;
const LARGEST_SEED = 2 ** 32 - 1;

/**
 * @returns 'help' when that was asked for
 * @throws {WeirError} USAGE, naming option, value and what would be right
 */
export function parseOptions(args: readonly string[]): BenchOptions | 'help' {
  const values = parse(args);
  if (values.help === true) return 'help';
  const quick = values.quick === true;
  return {
    lines: selectLines(values.only),
    rounds:
      values.rounds === undefined
        ? quick
          ? QUICK_ROUNDS
          : DEFAULT_ROUNDS
        : parseInteger('--rounds', values.rounds, { min: 1, max: MOST_ROUNDS }),
    scale: quick ? QUICK_SCALE : 1,
    seed: parseInteger('--seed', values.seed, { min: 0, max: LARGEST_SEED }),
    format: values.json === true ? 'json' : 'table',
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        only: { type: 'string' },
        rounds: { type: 'string' },
        quick: { type: 'boolean' },
        seed: { type: 'string', default: '1' },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw usageError('the command line', args.join(' '), `as --help shows it (${reason})`);
  }
}

function selectLines(only: string | undefined): ReadonlySet<string> {
  const lines = measurements.flatMap((measurement) => measurement.lines);
  if (only === undefined) return new Set(lines.map(({ name }) => name));
  const selected = parseList('--only', only).flatMap((wanted) => {
    const matching = lines.filter(({ item, name }) => item === wanted || name === wanted);
    if (matching.length > 0) return matching.map(({ name }) => name);
    const known = [...new Set(lines.map(({ item }) => item)), ...lines.map(({ name }) => name)];
    throw usageError('--only', wanted, `one or more of ${known.join(', ')}`);
  });
  return new Set(selected);
}
