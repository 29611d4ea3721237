import type { Command } from 'commander';
import { textOf } from '../../core/parse-option.js';
import { withTemporaryFolder } from '../../core/temporary-folder.js';
import type { Experiment } from '../../experiments/experiment.js';
import { loadExperiments } from '../../experiments/load-experiments.js';
import { localFleet } from '../../fleet/local-fleet.js';
import type { Result } from '../../measure/result.js';
import type { RedisTargetOptions } from '../../redis/connect.js';
import { loadReporters } from '../../reporters/load-reporters.js';
import type { Reporter } from '../../reporters/reporter.js';
import { openResultsStore, type ResultsStore } from '../../results/results-store.js';
import { FEWEST_ROUNDS_WITH_INTERVAL, makePlan, type PlanSettings } from '../../runner/plan.js';
import { Runner } from '../../runner/runner.js';
import { loadChecks } from '../../validity/load-checks.js';
import { repeatingCommandLine } from '../command-line.js';
import { printNote, printWarning } from '../errors.js';
import { exitCodeOf } from '../exit-code.js';
import { addExperimentCommands } from '../experiment-commands.js';
import { listenForInterruption } from '../interruption.js';
import type { OptionTexts } from '../list-format.js';
import {
  addExperimentOptions,
  addPlanOptions,
  addRedisOptions,
  addReportOptions,
  addResultsOption,
  experimentTexts,
  parsePlanSettings,
} from '../options.js';
import { openOutput } from '../output.js';
import { showProgress } from '../progress/progress.js';
import { recordRun } from '../record-run.js';
import { chosenReporter, renderFor } from '../rendering.js';

/** `weir run <experiment>`: plan, trials, checks, verdict, stored result, report. */
export async function configure(run: Command): Promise<void> {
  const reporters = await loadReporters();
  addExperimentCommands(run, await loadExperiments(), (command, experiment) => {
    addExperimentOptions(command, experiment);
    addPlanOptions(command, experiment);
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
  const settings = parsePlanSettings(texts, experiment);
  const reporter = chosenReporter(texts, reporters);
  await withTemporaryFolder(async (temporaryFolder) => {
    const common = { precision: settings.precision, temporaryFolder, redis: redisOptions(texts) };
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
        const recording = store && recordRun(runner, experiment.name, store, warnOfStore);
        try {
          if (experiment.judgedBy !== 'guarantee') warnOfFewRounds(settings);
          const result = await runWithProgress(runner);
          await output.write(renderFor(reporter, result, texts));
          if (texts.out !== undefined) printNote(`report written to ${texts.out}`);
          process.exitCode = exitCodeOf(result, await loadChecks());
        } finally {
          // A result that could not be stored was reported at least; now it is an error.
          await recording?.done();
        }
      });
    } finally {
      await output.discard();
    }
  });
}

/** The display and the signals are taken for the time of the run and given back, however it ends. */
async function runWithProgress(runner: Runner<unknown>): Promise<Result> {
  const progress = showProgress(runner);
  const interruption = listenForInterruption((message) => progress.say(message));
  try {
    return await runner.run(interruption.signal);
  } finally {
    interruption.stop();
    progress.stop();
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

function warnOfStore(error: unknown): void {
  printWarning(
    `the run goes on and is not stored: ${error instanceof Error ? error.message : String(error)}`,
  );
}

function warnOfFewRounds({ rounds }: Pick<PlanSettings, 'rounds'>): void {
  if (rounds >= FEWEST_ROUNDS_WITH_INTERVAL) return;
  printWarning(
    `${rounds} round${rounds === 1 ? '' : 's'}: no 95 % interval exists below ` +
      `${FEWEST_ROUNDS_WITH_INTERVAL}, so there will be no verdict`,
  );
}
