import { Argument, type Command } from 'commander';
import { loadPatterns } from '../../core/load-patterns.js';
import { loadExperiments } from '../../experiments/load-experiments.js';
import { loadFaults } from '../../faults/load-faults.js';
import { clientLibraries } from '../../redis/clients.js';
import { loadReporters } from '../../reporters/load-reporters.js';
import { renderTable } from '../../reporters/text/table.js';
import { loadStrategies } from '../../services/strategies/load-strategies.js';
import { loadStores } from '../../stores/load-stores.js';
import { loadChecks } from '../../validity/load-checks.js';
import { addListFormat, type OptionTexts } from '../list-format.js';
import { writeToStdout } from '../output.js';

/** `weir list [topic]`: every variant there is, read from the folders they lie in. */
export function configure(list: Command): void {
  list.addArgument(
    new Argument('[topic]', 'what to list; everything when left out').choices(Object.keys(TOPICS)),
  );
  addListFormat(list);
  list.action(async (chosen: string | undefined) => {
    const texts: OptionTexts = list.opts();
    const wanted = Object.entries(TOPICS).filter(([topic]) => chosen === undefined || topic === chosen);
    const listed = await Promise.all(wanted.map(async ([topic, rows]) => ({ topic, rows: await rows() })));
    await writeToStdout(texts.format === 'json' ? listJson(listed, chosen) : listText(listed));
  });
}

/** One listed thing: column names and what stands in them. */
type Row = Readonly<Record<string, string | boolean | readonly string[]>>;

interface Listed {
  readonly topic: string;
  readonly rows: readonly Row[];
}

const TOPICS: Readonly<Record<string, () => Promise<readonly Row[]>>> = {
  experiments: async () =>
    [...(await loadExperiments()).values()].map(({ name, summary }) => ({ name, summary })),
  patterns: async () =>
    [...(await loadPatterns()).values()].map(({ name, capabilities, commands }) => ({
      name,
      delivery: capabilities.delivery,
      waits: capabilities.persistence,
      order: capabilities.ordering,
      fanOut: capabilities.fanOut,
      competing: capabilities.competingConsumers,
      commands: [...commands.send, ...commands.receive, ...commands.acknowledge].map((use) => use.name),
    })),
  clients: async () => clientLibraries.map(({ name, version }) => ({ name, version })),
  strategies: async () =>
    [...(await loadStrategies()).values()].map(({ name, summary }) => ({ name, summary })),
  stores: async () =>
    [...(await loadStores()).values()].map(({ name, address, summary }) => ({ name, address, summary })),
  faults: async () =>
    [...(await loadFaults()).values()].map(({ name, points, summary }) => ({
      name,
      crashPoints: points,
      summary,
    })),
  checks: async () =>
    [...(await loadChecks()).values()].map((check) => ({
      name: check.name,
      looksAt: [...(check.trial ? ['trial'] : []), ...(check.run ? ['run'] : [])],
      summary: check.summary,
    })),
  reporters: async () =>
    [...(await loadReporters()).values()].map(({ name, extension, summary }) => ({
      name,
      extension,
      summary,
    })),
};

/** One topic is an array, so that `weir list patterns --format json | jq '.[].name'` works; all are an object. */
function listJson(listed: readonly Listed[], chosen: string | undefined): string {
  const all = Object.fromEntries(listed.map(({ topic, rows }) => [topic, rows]));
  return `${JSON.stringify(chosen === undefined ? all : all[chosen], null, 2)}\n`;
}

function listText(listed: readonly Listed[]): string {
  const blocks = listed.map(({ topic, rows }) => [topic, ...rowsText(rows)].join('\n'));
  return `${blocks.join('\n\n')}\n`;
}

function rowsText(rows: readonly Row[]): string[] {
  if (rows.length === 0) return ['  none'];
  const heads = Object.keys(rows[0] ?? {});
  return renderTable(
    heads.map((head) => ({ head: head.replace(/([A-Z])/g, ' $1').toLowerCase() })),
    rows.map((row) => heads.map((head) => cell(row[head]))),
  );
}

function cell(value: Row[string] | undefined): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return value;
  return value?.join(' ') ?? '';
}
