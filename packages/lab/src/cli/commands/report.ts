import type { Command } from 'commander';
import { loadReporters } from '../../reporters/load-reporters.js';
import { openResultsStore } from '../../results/results-store.js';
import { printNote } from '../errors.js';
import type { OptionTexts } from '../list-format.js';
import { addReportOptions, addResultsOption } from '../options.js';
import { openOutput } from '../output.js';
import { chosenReporter, renderFor } from '../rendering.js';

/** `weir report <run|latest>`: any format, at any time, from what was stored. */
export async function configure(report: Command): Promise<void> {
  const reporters = await loadReporters();
  report.argument('[run]', 'id of the run, the beginning of one, or latest', 'latest');
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
      if (texts.out !== undefined) printNote(`report written to ${texts.out}`);
    } finally {
      await store.close();
    }
  });
}
