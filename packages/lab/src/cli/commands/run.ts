import type { Command } from 'commander';
import { withTemporaryFolder } from '../../core/temporary-folder.js';
import type { Experiment } from '../../experiments/experiment.js';
import { localFleet } from '../../fleet/local-fleet.js';
import type { Result } from '../../measure/result.js';
import type { RedisTargetOptions } from '../../redis/connect.js';
import type { Reporter } from '../../reporters/reporter.js';
import { openResultsStore, type ResultsStore } from '../../results/results-store.js';
import { FEWEST_ROUNDS_WITH_INTERVAL, makePlan, type PlanSettings } from '../../runner/plan.js';
import { Runner } from '../../runner/runner.js';
import { loadChecks } from '../../validity/load-checks.js';
import { repeatingCommandLine } from '../command-line.js';
import { printError, printWarning } from '../errors.js';
import { exitCodeOf } from '../exit-code.js';
import { addExperimentCommands } from '../experiment-commands.js';
import { listenForInterruption } from '../interruption.js';
import {
  addExperimentOptions,
  addPlanOptions,
  addRedisOptions,
  addReportOptions,
  addResultsOption,
  experimentTexts,
  type OptionTexts,
  parsePlanSettings,
} from '../options.js';
import { openOutput } from '../output.js';
import { showProgress } from '../progress/progress.js';
import { recordRun } from '../record-run.js';
import { chosenReporter, renderFor } from '../rendering.js';

/** `weir run <experiment>`: plan, trials, checks, verdict, stored result, report. */
export function addRunCommand(
  program: Command,
  experiments: ReadonlyMap<string, Experiment>,
  reporters: ReadonlyMap<string, Reporter>,
): void {
  const run = program.command('run').description('run an experiment and report what it found');
  addExperimentCommands(run, experiments, (command, experiment) => {
    addExperimentOptions(command, experiment);
    addPlanOptions(command);
    addRedisOptions(command);
    addReportOptions(command, reporters);
    addResultsOption(command, 'none-allowed');
    command.action(() => runExperiment(command, experiment, reporters));
  });
}

async function runExperiment(
  command: Command,
  experiment: Experiment,
  reporters: ReadonlyMap<string, Reporter>,
): Promise<void> {
  const texts: OptionTexts = command.opts();
  const settings = parsePlanSettings(texts);
  const reporter = chosenReporter(texts, reporters);
  await withTemporaryFolder(async (temporaryFolder) => {
    const common = { precision: settings.precision, temporaryFolder };
    const options = await experiment.parse(experimentTexts(command, experiment), common);
    const plan = makePlan(experiment, options, {
      ...settings,
      command: repeatingCommandLine(command, experiment.name, settings.seed),
    });
    const runner = new Runner({
      experiment,
      options,
      plan,
      redis: redisOptions(texts),
      fleet: localFleet(),
      temporaryFolder,
    });
    const output = await openOutput(textOf(texts.out));
    try {
      await withResultsStore(textOf(texts.results), async (store) => {
        warnOfFewRounds(settings);
        const result = await runAndRecord(runner, experiment.name, store);
        await output.write(renderFor(reporter, result, texts));
        process.exitCode = exitCodeOf(result, await loadChecks());
      });
    } finally {
      await output.discard();
    }
  });
}

/** Everything that listens to the run lives as long as it, and what was recorded is on disk when it ends. */
async function runAndRecord(
  runner: Runner<unknown>,
  experiment: string,
  store: ResultsStore | undefined,
): Promise<Result> {
  const progress = showProgress(runner);
  const recording =
    store === undefined ? undefined : recordRun(runner, experiment, store, (error) => printError(error));
  const interruption = listenForInterruption((message) => progress.say(message));
  try {
    return await runner.run(interruption.signal);
  } finally {
    interruption.stop();
    progress.stop();
    await recording?.done();
  }
}

async function withResultsStore(
  address: string | undefined,
  work: (store: ResultsStore | undefined) => Promise<void>,
): Promise<void> {
  if (address === 'none') return work(undefined);
  const store = await openResultsStore(address);
  try {
    await work(store);
  } finally {
    await store.close();
  }
}

function redisOptions(texts: OptionTexts): RedisTargetOptions {
  const url = textOf(texts.redis);
  const serverPath = textOf(texts.redisServer);
  return { ...(url === undefined ? {} : { url }), ...(serverPath === undefined ? {} : { serverPath }) };
}

function warnOfFewRounds({ rounds }: Pick<PlanSettings, 'rounds'>): void {
  if (rounds >= FEWEST_ROUNDS_WITH_INTERVAL) return;
  printWarning(
    `${rounds} round${rounds === 1 ? '' : 's'}: no 95 % interval exists below ` +
      `${FEWEST_ROUNDS_WITH_INTERVAL}, so there will be no verdict`,
  );
}

function textOf(value: OptionTexts[string]): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
