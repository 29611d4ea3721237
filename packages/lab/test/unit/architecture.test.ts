import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';

/**
 * The layers of the lab, lowest first: a folder imports only from itself and from folders before it. Library code
 * returns data and emits events; only `cli` prints and ends the process.
 */
const LAYERS = [
  'core',
  'redis',
  'stores',
  'measure',
  'results',
  'validity',
  'faults',
  'services',
  'workers',
  'fleet',
  'experiments',
  'runner',
  'reporters',
  'cli',
];

const SOURCE = new URL('../../src/', import.meta.url).pathname;
const LONGEST_FILE = 400;

interface SourceFile {
  readonly path: string;
  readonly layer: string;
  readonly text: string;
  /** First folder of each relative import, or the package name. */
  readonly imports: readonly string[];
}

const files: readonly SourceFile[] = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(join(SOURCE, path), 'utf8');
    const imports = [...text.matchAll(/(?:from|import)\s*\(?'([^']+)'/g)].map(([, target = '']) =>
      target.startsWith('.')
        ? (relative(SOURCE, join(SOURCE, path, '..', target)).split('/')[0] ?? '')
        : target,
    );
    return { path, layer: path.split('/')[0] ?? '', text, imports };
  })
  .filter(({ path }) => path !== 'index.ts');

describe('architecture of the lab', () => {
  it('has no folder outside the layers', () => {
    expect([...new Set(files.map(({ layer }) => layer))].filter((layer) => !LAYERS.includes(layer))).toEqual(
      [],
    );
  });

  it('imports only downwards', () => {
    const upwards = files.flatMap(({ path, layer, imports }) =>
      imports
        .filter((target) => LAYERS.indexOf(target) > LAYERS.indexOf(layer))
        .map((target) => `${path} imports from ${target}/`),
    );
    expect(upwards).toEqual([]);
  });

  it('prints and exits in cli only', () => {
    const printing = files
      .filter(({ layer, path }) => layer !== 'cli' && path !== 'workers/worker-channel.ts')
      .filter(({ text }) => /\bconsole\.|process\.std(out|err)\.write|process\.exit\(/.test(text))
      .map(({ path }) => path);
    expect(printing).toEqual([]);
  });

  it('never asks for the name of a variant', () => {
    const asking = files
      .filter(({ layer }) => ['experiments', 'runner', 'workers', 'validity'].includes(layer))
      .filter(({ text }) => /name === '(queue|pubsub|stream-|sqlite|mysql|postgres)/.test(text))
      .map(({ path }) => path);
    expect(asking).toEqual([]);
  });

  it('keeps files short enough to hold one thing', () => {
    const long = files
      .map(({ path, text }) => ({ path, lines: text.split('\n').length }))
      .filter(({ lines }) => lines > LONGEST_FILE)
      .map(({ path, lines }) => `${path}: ${lines} lines`);
    expect(long).toEqual([]);
  });
});
