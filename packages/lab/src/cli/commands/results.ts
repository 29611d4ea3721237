import { type Command, Option } from 'commander';
import { WeirError } from '../../core/errors.js';
import { parseInteger } from '../../core/parse-option.js';
import { renderTable } from '../../reporters/text/table.js';
import { openResultsStore, type ResultsStore, type StoredRun } from '../../results/results-store.js';
import { addListFormat, type OptionTexts } from '../list-format.js';
import { addResultsOption } from '../options.js';
import { writeToStdout } from '../output.js';

const DEFAULT_LIMIT = 20;

/** `weir results`: the runs that are stored, newest first, each with what it found in one line. */
export function configure(results: Command): void {
  results.addOption(
    new Option('--limit <count>', 'most runs to list, the newest').default(String(DEFAULT_LIMIT)),
  );
  addListFormat(results);
  addResultsOption(results, 'needed');
  results.action(async () => {
    const texts: OptionTexts = results.opts();
    const limit = parseInteger('--limit', String(texts.limit), { min: 1, max: 10_000 });
    const store = await openResultsStore(String(texts.results));
    try {
      const runs = await store.list();
      const listed = await withFindings(store, runs.slice(0, limit));
      await writeToStdout(
        texts.format === 'json'
          ? `${JSON.stringify(listed, null, 2)}\n`
          : resultsText(listed, runs.length - listed.length),
      );
    } finally {
      await store.close();
    }
  });
}

type ListedRun = StoredRun & { readonly finding: string };

/** One after the other: each reads all trials of a run. */
async function withFindings(store: ResultsStore, runs: readonly StoredRun[]): Promise<ListedRun[]> {
  const listed: ListedRun[] = [];
  for (const run of runs) listed.push({ ...run, finding: await firstFinding(store, run.id) });
  return listed;
}

async function firstFinding(store: ResultsStore, id: string): Promise<string> {
  try {
    return (await store.get(id)).summary.findings[0] ?? 'nothing was found';
  } catch (error) {
    // A run of another version of weir is still listed, it only cannot be read.
    if (error instanceof WeirError && error.code === 'NO_SUCH_RUN') return error.remedy ?? error.message;
    throw error;
  }
}

function resultsText(runs: readonly ListedRun[], notListed: number): string {
  if (runs.length === 0) return 'No runs are stored here yet: weir run messaging\n';
  const lines = renderTable(
    [
      { head: 'run' },
      { head: 'when (UTC)' },
      { head: 'experiment' },
      { head: 'status' },
      { head: 'trials', align: 'right' },
      { head: 'finding' },
    ],
    runs.map((run) => [
      run.id,
      run.startedAt.slice(0, 16).replace('T', ' '),
      run.experiment,
      run.status,
      String(run.trials),
      run.finding,
    ]),
    0,
  );
  if (notListed > 0) lines.push('', `${notListed} older ones are not listed: --limit`);
  return `${lines.join('\n')}\n`;
}
