import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { loadPatterns } from '../support/variants.js';

/**
 * The layers of the package, lowest first. A file imports from its own layer and from those listed for it; every
 * arrow points down.
 *
 *     messaging  pipelining        what a service uses
 *         |   \      |
 *      scripts \     |             Lua
 *               client             how commands reach Redis
 *                  |
 *               errors
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  errors: [],
  client: ['errors'],
  scripts: [],
  pipelining: ['client', 'errors'],
  counters: ['client', 'errors', 'scripts', 'pipelining'],
  messaging: ['client', 'errors', 'scripts'],
  index: ['client', 'errors', 'messaging', 'pipelining', 'counters'],
};

/** Of the client folder, other layers see the contract only: never an adapter, never its insides. */
const CLIENT_CONTRACT = 'client/redis-client';

const source = fileURLToPath(new URL('../../src/', import.meta.url));
const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
);

interface Import {
  readonly from: string;
  readonly isTypeOnly: boolean;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(source, file), 'utf8');
  const statements = text.matchAll(/^(?:import|export) (type )?[^;]*? from '([^']+)';$/gms);
  return [...statements].map(([, type, from = '']) => ({ from, isTypeOnly: type !== undefined }));
}

/** `messaging/internal/run.ts` lies in `messaging`, `errors.ts` in `errors`. */
function layerOf(path: string): string {
  return path.split('/')[0]?.replace(/\.[jt]s$/, '') ?? '';
}

function resolved(file: string, from: string): string {
  return relative(source, join(source, dirname(file), from)).replace(/\.js$/, '');
}

describe.each(files)('%s', (file) => {
  const layer = layerOf(file);
  const inside = importsOf(file).filter(({ from }) => from.startsWith('.'));
  const outside = importsOf(file).filter(({ from }) => !from.startsWith('.'));

  it('lies in a known layer and imports only from below it', () => {
    const allowed = [layer, ...(MAY_IMPORT[layer] ?? [])];
    expect(Object.keys(MAY_IMPORT)).toContain(layer);
    for (const { from } of inside) expect(allowed).toContain(layerOf(resolved(file, from)));
  });

  it('sees of the client folder only the contract', () => {
    if (layer === 'client') return;
    const client = inside
      .map(({ from }) => resolved(file, from))
      .filter((path) => layerOf(path) === 'client');
    expect(client.filter((path) => path !== CLIENT_CONTRACT)).toEqual([]);
  });

  it('needs nothing at run time but Node', () => {
    const needed = outside.filter(({ from, isTypeOnly }) => !isTypeOnly && !from.startsWith('node:'));
    // An adapter may need its own library, which is then a peer dependency: there is no client without it.
    const isAdapter = /^client\/[^/]+\.ts$/.test(file);
    expect(isAdapter ? [] : needed).toEqual([]);
  });

  it('stays short enough to be read in one go', () => {
    expect(readFileSync(join(source, file), 'utf8').split('\n').length).toBeLessThan(400);
  });
});

describe('the package', () => {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

  it('has no dependency', () => {
    expect(manifest.dependencies ?? {}).toEqual({});
  });

  it('makes every peer dependency optional: a service brings the one client it has', () => {
    const optional = Object.keys(manifest.peerDependenciesMeta);
    expect(optional.sort()).toEqual(Object.keys(manifest.peerDependencies).sort());
  });
});

describe('every pattern file', async () => {
  const patterns = await loadPatterns();
  const names = readdirSync(join(source, 'messaging')).filter(
    (name) => name.endsWith('.ts') && name !== 'pattern.ts',
  );

  it('exports a pattern of its own name', () => {
    expect(patterns.map((pattern) => `${pattern.name}.ts`)).toEqual(names);
  });

  it('has a key of its own', () => {
    expect(new Set(patterns.map((pattern) => pattern.defaultKey)).size).toBe(patterns.length);
  });
});
