import { randomInt } from 'node:crypto';
import { type Command, Option } from 'commander';
import { usageError } from '../core/errors.js';
import { parseInteger } from '../core/parse-option.js';
import type { Experiment, RawOptions } from '../experiments/experiment.js';
import type { Reporter } from '../reporters/reporter.js';
import { DEFAULT_RESULTS } from '../results/results-store.js';
import { GUARANTEE_ROUNDS, type PlanSettings, ROUNDS } from '../runner/plan.js';
import { DATABASE_ADDRESSES } from '../stores/sql/databases/open-database.js';
import type { OptionTexts } from './list-format.js';

/** The options that commands share: how they are written in help, and how their texts become settings. */

const LARGEST_SEED = 2 ** 32 - 1;
const DEFAULT_MARGIN = '3%';

/** How an experiment is judged decides how often its trials are repeated. */
type Judged = Pick<Experiment, 'judgedBy'>;

export function addPlanOptions(command: Command, experiment: Judged): void {
  const rounds = roundsOf(experiment);
  const compares = experiment.judgedBy !== 'guarantee';
  const options = [
    new Option('--rounds <count>', `rounds, each runs every variant once (default: ${rounds.default})`),
    new Option(
      '--quick',
      compares ? `${rounds.quick} rounds and short trials; exploratory` : 'short trials',
    ).conflicts(
      // A comparison needs its rounds; a guarantee can be tried shortly and often.
      compares ? 'rounds' : [],
    ),
    new Option(
      '--thorough',
      compares ? `${rounds.thorough} rounds; finds differences of about 5 %` : `${rounds.thorough} rounds`,
    ).conflicts(['rounds', 'quick']),
    new Option('--seed <number>', 'order of the trials and message bodies (default: random, printed)'),
    new Option('--margin <percent>', 'smallest difference that counts').default(DEFAULT_MARGIN),
  ];
  for (const option of options) command.addOption(option.helpGroup('Plan:'));
}

/** The experiment says which options it has; `weir run messaging --help` and its parser are made from that. */
export function addExperimentOptions(command: Command, experiment: Experiment): void {
  for (const { flags, description, defaultText } of experiment.options) {
    const text = defaultText === undefined ? description : `${description} (default: ${defaultText})`;
    command.addOption(new Option(flags, text).helpGroup(`Options of ${experiment.name}:`));
  }
}

export function addRedisOptions(command: Command): void {
  const options = [
    new Option('--redis <url>', 'your Redis; weir touches only its own keys (default: one that weir starts)'),
    new Option('--redis-server <path>', 'program to start (default: redis-server on the PATH)').conflicts(
      'redis',
    ),
  ];
  for (const option of options) command.addOption(option.helpGroup('Redis:'));
}

export function addReportOptions(command: Command, reporters: ReadonlyMap<string, Reporter>): void {
  const options = [
    new Option('--format <name>', 'format of the report').choices([...reporters.keys()]).default('text'),
    new Option('--out <file>', 'write the report to a file instead of stdout'),
  ];
  for (const option of options) command.addOption(option.helpGroup('Report:'));
}

/** @param none whether results may be kept nowhere */
export function addResultsOption(command: Command, none: 'none-allowed' | 'needed'): void {
  const choices = [...DATABASE_ADDRESSES, ...(none === 'none-allowed' ? ['none'] : [])].join(', ');
  command.addOption(
    new Option('--results <address>', `where results are kept: ${choices}`)
      .default(DEFAULT_RESULTS)
      .helpGroup('Results:'),
  );
}

/** The options of the experiment alone, as it declared them. */
export function experimentTexts(command: Command, experiment: Experiment): RawOptions {
  const texts: OptionTexts = command.opts();
  const names = experiment.options.map(({ flags }) => new Option(flags).attributeName());
  return Object.fromEntries(names.map((name) => [name, texts[name]]));
}

/**
 * @param texts options as commander read them
 * @throws {WeirError} USAGE naming option, value and what would be right
 */
export function parsePlanSettings(texts: OptionTexts, experiment: Judged): Omit<PlanSettings, 'command'> {
  const seed =
    typeof texts.seed === 'string'
      ? parseInteger('--seed', texts.seed, { min: 0, max: LARGEST_SEED })
      : randomInt(LARGEST_SEED);
  return { ...parseRounds(texts, experiment), seed, margin: parseMargin(texts.margin) };
}

function roundsOf({ judgedBy }: Judged): Readonly<Record<'quick' | 'default' | 'thorough', number>> {
  return judgedBy === 'guarantee' ? GUARANTEE_ROUNDS : ROUNDS;
}

function parseRounds(
  { rounds, quick, thorough }: OptionTexts,
  experiment: Judged,
): Pick<PlanSettings, 'rounds' | 'precision'> {
  const precision = quick === true ? 'quick' : thorough === true ? 'thorough' : 'default';
  if (typeof rounds === 'string') {
    const count = parseInteger('--rounds', rounds, { min: 1, max: 1000 });
    return { rounds: count, precision: quick === true ? 'quick' : 'custom' };
  }
  return { rounds: roundsOf(experiment)[precision], precision };
}

/** `3%` -> 0.03. The sign is asked for: 3 could be meant as a ratio. */
function parseMargin(text: OptionTexts[string]): number {
  const percent = /^(\d{1,3}(?:\.\d{1,6})?) ?%$/.exec(typeof text === 'string' ? text : DEFAULT_MARGIN)?.[1];
  const margin = Number(percent) / 100;
  if (!(margin >= 0 && margin <= 1)) throw usageError('--margin', text, 'a percentage from 0% to 100%');
  return margin;
}
