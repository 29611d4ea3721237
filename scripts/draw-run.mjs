/**
 * Draws the picture of the README from a stored result: median and 95 % interval of one metric, a bar per variant.
 *
 *     node scripts/draw-run.mjs docs/runs/messaging.json throughput > docs/images/messaging.svg
 */
import { readFileSync } from 'node:fs';

const [file, metric = 'throughput'] = process.argv.slice(2);
if (file === undefined) {
  console.error('usage: node scripts/draw-run.mjs RESULT.json [METRIC] > PICTURE.svg');
  process.exit(64);
}

const WIDTH = 760;
const LEFT = 190;
const RIGHT = 90;
const ROW = 26;
const GROUP_GAP = 20;
const TOP = 58;
const COLORS = { baseline: '#3b6ea5', candidate: '#2a9d8f', 'a-a': '#b8c4d0' };

const result = JSON.parse(readFileSync(file, 'utf8'));
const rows = result.plan.variants.map((variant) => {
  const summary = result.summary.variants.find(({ name }) => name === variant.name);
  return { ...variant, estimate: summary.metrics[metric] };
});
const most = Math.max(...rows.map(({ estimate }) => estimate.ci95?.[1] ?? estimate.median));
const x = (value) => LEFT + (value / most) * (WIDTH - LEFT - RIGHT);
const number = (value) => Math.round(Number(value.toPrecision(3))).toLocaleString('en-US');
const escapeText = (text) => text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);

let y = TOP;
let group;
const parts = [];
for (const { name, group: of, role, estimate } of rows) {
  if (of !== group) {
    if (group !== undefined) y += GROUP_GAP;
    group = of;
    parts.push(`<text x="8" y="${y + 4}" class="group">${escapeText(of || 'all')}</text>`);
    y += 12;
  }
  const [low, high] = estimate.ci95 ?? [estimate.median, estimate.median];
  const label = of === '' ? name : name.replace(` ${of}`, '');
  const middle = y + ROW / 2;
  parts.push(
    `<text x="${LEFT - 8}" y="${middle + 4}" text-anchor="end">${escapeText(label)}</text>`,
    `<rect x="${LEFT}" y="${y + 5}" width="${(x(estimate.median) - LEFT).toFixed(1)}" height="${ROW - 10}" rx="2" fill="${COLORS[role]}"/>`,
    `<path d="M${x(low).toFixed(1)} ${middle}H${x(high).toFixed(1)}M${x(low).toFixed(1)} ${middle - 4}v8M${x(high).toFixed(1)} ${middle - 4}v8" stroke="#1b1b1b" fill="none"/>`,
    `<text x="${(x(high) + 6).toFixed(1)}" y="${middle + 4}">${number(estimate.median)}</text>`,
  );
  y += ROW;
}

const { unit } = rows[0].estimate;
console.log(`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y + 30}" viewBox="0 0 ${WIDTH} ${y + 30}" role="img" aria-label="${metric} by variant">
<style>text{font:13px system-ui,sans-serif;fill:#1b1b1b}.title{font-weight:600;font-size:15px}.group{font-weight:600}.note{fill:#666;font-size:11px}</style>
<rect width="100%" height="100%" fill="#fff"/>
<text x="8" y="24" class="title">${metric}, ${unit}: median and 95 % interval</text>
<text x="8" y="40" class="note">run ${result.id}, ${result.plan.rounds} rounds, grey: second copy of the baseline (A/A)</text>
${parts.join('\n')}
</svg>`);
