import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Trial } from '../../src/measure/result.js';
import { openResultsStore, type ResultsStore } from '../../src/results/results-store.js';
import { resultFixture } from '../support/result-fixture.js';

let folder: string;
let file: string;
let store: ResultsStore;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-results-'));
  file = join(folder, 'deep', 'results.db');
  store = await openResultsStore(`sqlite:${file}`);
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const failed: Trial = {
  id: '1.1',
  variant: 'queue batch=1',
  round: 1,
  position: 1,
  startedAt: '2026-11-30T14:25:30.000Z',
  durationMs: 1_500,
  state: 'failed',
  error: 'Redis is gone',
  validity: [],
};

describe('the results store', () => {
  it('gives back exactly the result that was finished, also after it is opened again', async () => {
    const result = resultFixture();
    await store.begin(result);
    for (const trial of result.trials) await store.addTrial(result.id, trial);
    await store.finish(result);
    expect(await store.get(result.id)).toEqual(result);
    await store.close();
    store = await openResultsStore(`sqlite:${file}`);
    expect(await store.get('latest')).toEqual(result);
  });

  it('keeps the reason of a failed run, and one that was never begun here', async () => {
    const result = resultFixture({ status: 'failed', error: 'the server is gone', trials: [failed] });
    await store.finish(result);
    expect(await store.get(result.id)).toEqual(result);
  });

  it('reads a run that was begun and never finished as interrupted, with the trials it made', async () => {
    const result = resultFixture();
    await store.begin(result);
    const second: Trial = { ...failed, id: '1.2', position: 2, startedAt: '2026-11-30T14:25:32.000Z' };
    await store.addTrial(result.id, second);
    await store.addTrial(result.id, failed);
    await store.close();
    store = await openResultsStore(`sqlite:${file}`);
    expect(await store.get('latest')).toMatchObject({
      status: 'interrupted',
      finishedAt: '2026-11-30T14:25:33.500Z',
      trials: [{ id: '1.1' }, { id: '1.2' }],
      summary: { findings: [expect.stringContaining('2 trials')], comparisons: [] },
    });
  });

  it('lists the newest first and deletes with all trials', async () => {
    await store.finish(resultFixture({ id: 'older', startedAt: '2026-01-01T00:00:00.000Z' }));
    await store.begin(resultFixture({ id: 'newer', startedAt: '2026-02-01T00:00:00.000Z' }));
    expect(await store.list()).toEqual([
      {
        id: 'newer',
        experiment: 'messaging',
        startedAt: '2026-02-01T00:00:00.000Z',
        status: 'interrupted',
        trials: 0,
      },
      {
        id: 'older',
        experiment: 'messaging',
        startedAt: '2026-01-01T00:00:00.000Z',
        status: 'completed',
        trials: 72,
      },
    ]);
    await store.delete('older');
    expect((await store.list()).map(({ id }) => id)).toEqual(['newer']);
    const raw = new Database(file, { readonly: true });
    expect(raw.prepare('SELECT count(*) AS left FROM trials').get()).toEqual({ left: 0 });
    raw.close();
  });

  it('finds a run by the beginning of its id, and says what there is when that is none or several', async () => {
    await expect(store.get('latest')).rejects.toMatchObject({
      code: 'NO_SUCH_RUN',
      exitCode: 64,
      remedy: expect.stringContaining('nothing is stored'),
    });
    for (const id of ['run-1', 'run-12', 'walk-1']) await store.finish(resultFixture({ id, trials: [] }));
    expect((await store.get('walk')).id).toBe('walk-1');
    expect((await store.get('run-1')).id).toBe('run-1');
    await expect(store.get('nope')).rejects.toMatchObject({
      message: expect.stringContaining('"nope"'),
      remedy: expect.stringMatching(/run-1.*run-12|run-12.*run-1/),
    });
    await expect(store.get('run-')).rejects.toMatchObject({
      message: expect.stringContaining('2 runs'),
      remedy: expect.not.stringContaining('walk-1'),
    });
  });

  it('believes nothing it reads: a row of another form is refused with its place', async () => {
    await store.finish(resultFixture({ id: 'odd', trials: [] }));
    const raw = new Database(file);
    raw.exec(`UPDATE runs SET plan = '{"rounds": "many"}'`);
    raw.close();
    await expect(store.get('odd')).rejects.toMatchObject({
      code: 'NO_SUCH_RUN',
      message: expect.stringMatching(/odd[\s\S]*rounds/),
    });
  });

  it('serves two runs that write at the same time', async () => {
    const other = await openResultsStore(`sqlite:${file}`);
    await Promise.all([
      store.finish(resultFixture({ id: 'one' })),
      other.finish(resultFixture({ id: 'two' })),
    ]);
    await other.close();
    expect((await store.list()).map(({ id, trials }) => [id, trials])).toEqual([
      ['two', 72],
      ['one', 72],
    ]);
  });

  it('refuses an address that is none and a place that cannot be written, before a run starts', async () => {
    await expect(openResultsStore('results.db')).rejects.toMatchObject({ code: 'USAGE', exitCode: 64 });
    await writeFile(join(folder, 'file'), '');
    await expect(openResultsStore(`sqlite:${join(folder, 'file', 'results.db')}`)).rejects.toMatchObject({
      code: 'CANNOT_WRITE',
      exitCode: 73,
    });
  });
});
