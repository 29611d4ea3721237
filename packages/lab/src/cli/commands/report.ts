import type { Command } from 'commander';
import type { Reporter } from '../../reporters/reporter.js';
import { openResultsStore } from '../../results/results-store.js';
import { addReportOptions, addResultsOption, type OptionTexts } from '../options.js';
import { openOutput } from '../output.js';
import { chosenReporter, renderFor } from '../rendering.js';

/** `weir report <run|latest>`: any format, at any time, from what was stored. */
export function addReportCommand(program: Command, reporters: ReadonlyMap<string, Reporter>): void {
  const report = program
    .command('report')
    .description('report a stored run')
    .argument('[run]', 'id of the run, the beginning of one, or latest', 'latest');
  addReportOptions(report, reporters);
  addResultsOption(report, 'needed');
  report.action(async (run: string) => {
    const texts: OptionTexts = report.opts();
    const reporter = chosenReporter(texts, reporters);
    const store = await openResultsStore(String(texts.results));
    try {
      const result = await store.get(run);
      const output = await openOutput(typeof texts.out === 'string' ? texts.out : undefined);
      await output.write(renderFor(reporter, result, texts)).finally(() => output.discard());
    } finally {
      await store.close();
    }
  });
}
