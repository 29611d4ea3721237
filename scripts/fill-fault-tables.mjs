/**
 * Writes the figures of a stored run of `weir run faults` into the documents that have a place for them:
 *
 *     <!-- faults: stream-group -->  a row for each fault        <!-- /faults -->
 *     <!-- faults: matrix -->        faults by patterns          <!-- /faults -->
 *
 *     npm run build && node scripts/fill-fault-tables.mjs docs/runs/faults-quick.json && npx biome check --write docs
 *
 * Figures in documents come from nowhere else (docs/principles.md). A trial that is not valid shows as `?`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { faultLabel, recoveryTime } from '../packages/lab/dist/reporters/text/fault-label.js';

const [file] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: node scripts/fill-fault-tables.mjs RESULT.json');
  process.exit(64);
}
const DOCUMENTS = 'docs/';
const PLACE = /<!-- faults: ([\w-]+) -->[\s\S]*?<!-- \/faults -->/g;

const result = JSON.parse(readFileSync(file, 'utf8'));
const variants = [...result.plan.variants].sort((a, b) =>
  faultLabel(a.factors) < faultLabel(b.factors) ? -1 : 1,
);
const patterns = [...new Set(result.plan.variants.map(({ factors }) => factors.pattern))];
const source =
  `Run \`${result.id}\` ([the whole result](runs/${basename(file)})): Redis ${result.environment.server.version}, ` +
  `${result.plan.workload.messages} messages in each trial, at most ${result.plan.workload.batch} in one handler call.`;

for (const document of readdirSync(DOCUMENTS).filter((name) => name.endsWith('.md'))) {
  const text = readFileSync(DOCUMENTS + document, 'utf8');
  const filled = text.replace(PLACE, (_, wanted) => {
    const table = wanted === 'matrix' ? matrix() : rowsOf(wanted);
    return `<!-- faults: ${wanted} -->\n\n${source}\n\n${table}\n\n<!-- /faults -->`;
  });
  if (filled !== text) writeFileSync(DOCUMENTS + document, filled);
}

function rowsOf(pattern) {
  const own = variants.filter(({ factors }) => factors.pattern === pattern);
  if (own.length === 0) throw new Error(`the run has no trial of ${pattern}`);
  const rows = own.map((variant) => {
    const trial = trialOf(variant);
    if (trial === undefined) return [faultLabel(variant.factors), '?', '?', '?', '?', ''];
    const { lost, duplicated, reordered, recovery } = trial.metrics;
    return [
      faultLabel(variant.factors),
      lost.value,
      duplicated.value,
      reordered.value,
      recovery === undefined ? '–' : recoveryTime(recovery.value),
      `${trial.guarantee.promise}${trial.guarantee.state === 'kept' ? '' : ' — **broken**'}`,
    ];
  });
  return table(['fault', 'lost', 'repeated', 'out of order', 'recovered after', 'what it promises'], rows);
}

/** Lost acknowledged messages; `+` deliveries repeated. */
function matrix() {
  const faults = [...new Set(variants.map(({ factors }) => faultLabel(factors)))];
  const rows = faults.map((fault) => [
    fault,
    ...patterns.map((pattern) => {
      const variant = variants.find(
        (one) => one.factors.pattern === pattern && faultLabel(one.factors) === fault,
      );
      if (variant === undefined) return '·';
      const trial = trialOf(variant);
      if (trial === undefined) return '?';
      const { lost, duplicated } = trial.metrics;
      const cell = `${lost.value}${duplicated.value > 0 ? ` +${duplicated.value}` : ''}`;
      return trial.guarantee.state === 'kept' ? cell : `**${cell} broken**`;
    }),
  ]);
  return `${table(['fault', ...patterns.map((pattern) => `\`${pattern}\``)], rows)}

Acknowledged messages lost; \`+n\` deliveries repeated; \`·\` cannot happen to this pattern. Every trial kept the guarantee its
pattern declares unless it says broken.`;
}

function trialOf({ name }) {
  return result.trials.find(({ variant, state }) => variant === name && state === 'measured');
}

function table(heads, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n');
}
