import type { Command } from 'commander';
import { withTemporaryFolder } from '../../core/temporary-folder.js';
import type { Experiment } from '../../experiments/experiment.js';
import { loadExperiments } from '../../experiments/load-experiments.js';
import type { Plan } from '../../measure/result.js';
import { plural } from '../../reporters/text/figures.js';
import { renderTable } from '../../reporters/text/table.js';
import { estimateMs, makePlan } from '../../runner/plan.js';
import { repeatingCommandLine } from '../command-line.js';
import { addExperimentCommands } from '../experiment-commands.js';
import { formatDuration } from '../format-duration.js';
import { addListFormat, type OptionTexts } from '../list-format.js';
import { addExperimentOptions, addPlanOptions, experimentTexts, parsePlanSettings } from '../options.js';
import { writeToStdout } from '../output.js';

/** `weir plan <experiment>`: what would run, in which order, and how long it takes. Nothing is started. */
export async function configure(plan: Command): Promise<void> {
  addExperimentCommands(plan, await loadExperiments(), (command, experiment) => {
    addPlanOptions(command, experiment);
    addExperimentOptions(command, experiment);
    addListFormat(command);
    command.action(() => printPlan(command, experiment));
  });
}

async function printPlan(command: Command, experiment: Experiment): Promise<void> {
  const texts: OptionTexts = command.opts();
  const settings = parsePlanSettings(texts, experiment);
  await withTemporaryFolder(async (temporaryFolder) => {
    const common = { precision: settings.precision, temporaryFolder, redis: {} };
    const options = await experiment.parse(experimentTexts(command, experiment), common);
    const plan = makePlan(experiment, options, {
      ...settings,
      command: repeatingCommandLine(command, experiment.name, settings.seed),
    });
    const totalMs = estimateMs(plan, experiment.estimateTrialMs(options));
    await writeToStdout(
      texts.format === 'json'
        ? `${JSON.stringify({ ...plan, estimateMs: totalMs }, null, 2)}\n`
        : `${planText(plan, totalMs).join('\n')}\n`,
    );
  });
}

/** Rounds whose order is shown in full; the others follow from the seed and are in the JSON. */
const ROUNDS_SHOWN = 3;

function planText(plan: Plan, totalMs: number): string[] {
  const trials = plan.order.reduce((sum, round) => sum + round.length, 0);
  const workload = Object.entries(plan.workload).filter(([, value]) => value !== null && value !== '');
  const rest = plan.order.length - ROUNDS_SHOWN;
  return [
    plan.question,
    '',
    `${plural(trials, 'trial')}: ${plural(plan.rounds, 'round')} of ${plan.variants.length}, about ${formatDuration(totalMs)}`,
    '',
    ...renderTable(
      [{ head: 'variant' }, { head: 'role' }, { head: 'compared within' }],
      plan.variants.map(({ name, role, group }) => [name, ROLES[role], group === '' ? 'all' : group]),
    ),
    '',
    'Held equal',
    ...renderTable(
      [{ head: 'workload' }, { head: 'value', align: 'right' }],
      workload.map(([name, value]) => [name, String(value)]),
    ),
    '',
    'Order',
    ...plan.order.slice(0, ROUNDS_SHOWN).map((round, index) => `  round ${index + 1}: ${round.join(', ')}`),
    ...(rest > 0 ? [`  ... and ${rest} more rounds, shuffled with the seed (--format json shows them)`] : []),
    '',
    `sha256 ${plan.sha256}`,
    plan.command,
  ];
}

const ROLES = {
  baseline: 'baseline',
  candidate: 'candidate',
  'a-a': 'baseline again: measures the noise',
} as const satisfies Record<Plan['variants'][number]['role'], string>;
