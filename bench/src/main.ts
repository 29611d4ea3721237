import { listenForInterruption, printError } from './lab.js';
import { lineOf } from './line.js';
import { measurements } from './measurements/all.js';
import { type BenchOptions, parseOptions, USAGE } from './options.js';
import { json, progressLine, table } from './report.js';
import { playRounds, type TrialRecord } from './rounds.js';
import { type LeftOut, selectMeasurable } from './selection.js';
import { openStage } from './stage.js';

/**
 * `npm run bench`: what weir costs against bare client calls, and what it gains against job queues. Results go to
 * stdout, progress to stderr. A missed target is a result, not an error. See docs/bench.md.
 */
try {
  const options = parseOptions(process.argv.slice(2));
  console.log(options === 'help' ? USAGE : await measure(options));
} catch (error) {
  process.exitCode = printError(error);
}

async function measure(wanted: BenchOptions): Promise<string> {
  const { lines, leftOut } = selectMeasurable(measurements, wanted.lines);
  for (const { name, detail } of leftOut) say(`${name}: ${detail}`);
  const options = { ...wanted, lines };
  return report(options, await play(options), leftOut);
}

async function play(options: BenchOptions): Promise<TrialRecord[]> {
  const interruption = listenForInterruption(() => say('stopping'));
  const stage = await openStage();
  try {
    const { signal } = interruption;
    return await playRounds(stage, {
      ...{ ...options, measurements, signal },
      onTrial: (progress) => say(progressLine(progress)),
    });
  } finally {
    await stage.close();
    interruption.stop();
  }
}

function report(options: BenchOptions, records: readonly TrialRecord[], leftOut: readonly LeftOut[]): string {
  const lines = measurements.flatMap((measurement) =>
    measurement.lines
      .filter(({ name }) => options.lines.has(name))
      .map((definition) => lineOf(definition, measurement, records)),
  );
  return options.format === 'json' ? json(lines) : table(lines, leftOut);
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
