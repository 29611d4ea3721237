import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openResultsStore, type ResultsStore } from '../../src/results/results-store.js';
import { DATABASE_PASSWORD } from '../../src/stores/servers/database-server.js';
import { failedTrialFixture, resultFixture } from '../support/result-fixture.js';
import { mariadb, postgresql, storeFixtures } from '../support/store-fixtures.js';

const databases = [
  { name: 'sqlite', address: async () => (await storeFixtures.sqlite?.())?.address ?? '' },
  { name: 'mysql', address: async () => (await mariadb.server()).createDatabase() },
  { name: 'postgres', address: async () => (await postgresql.server()).createDatabase() },
];

/** What every database under the results store must do; more about the store itself: results-store.test.ts. */
describe.each(databases)('results in $name', ({ address }) => {
  let url: string;
  let store: ResultsStore;
  beforeEach(async () => {
    url = await address();
    store = await openResultsStore(url);
  });
  afterEach(() => store.close());

  it('gives back exactly the result that was finished, also after it is opened again', async () => {
    const result = resultFixture();
    await store.begin(result);
    for (const trial of result.trials.slice(0, 10)) await store.addTrial(result.id, trial);
    await store.finish(result);
    await store.close();
    store = await openResultsStore(url);
    expect(await store.get('latest')).toEqual(result);
  });

  it('keeps the last of a trial that is written twice', async () => {
    const result = resultFixture();
    await store.begin(result);
    await store.addTrial(result.id, failedTrialFixture('queue batch=1', 1, 'first'));
    await store.addTrial(result.id, failedTrialFixture('queue batch=1', 1, 'second'));
    expect(await store.get(result.id)).toMatchObject({
      status: 'interrupted',
      trials: [{ error: 'second' }],
    });
  });

  it('lists the newest first and deletes a run with its trials', async () => {
    await store.finish(resultFixture({ id: 'older', startedAt: '2026-01-01T00:00:00.000Z' }));
    await store.begin(resultFixture({ id: 'newer', startedAt: '2026-02-01T00:00:00.000Z' }));
    expect((await store.list()).map(({ id, trials }) => [id, trials])).toEqual([
      ['newer', 0],
      ['older', 72],
    ]);
    await store.delete('older');
    // Had its trials stayed, they would now be there twice.
    await store.finish(resultFixture({ id: 'older', startedAt: '2026-01-01T00:00:00.000Z' }));
    expect((await store.list()).map(({ trials }) => trials)).toEqual([0, 72]);
  });

  it('writes all of a result or nothing', async () => {
    const result = resultFixture();
    const [first] = result.trials;
    if (first === undefined) throw new Error('the fixture has trials');
    await store.finish(result);
    const broken = { ...result, trials: [first, first] };
    await expect(store.finish(broken)).rejects.toMatchObject({ code: 'CANNOT_WRITE' });
    expect(await store.get(result.id)).toEqual(result);
  });
});

it.each(['mysql', 'postgres', 'redis'])(
  'refuses a %s address it cannot use, without its password',
  async (scheme) => {
    const attempt = openResultsStore(`${scheme}://weir:${DATABASE_PASSWORD}@127.0.0.1`);
    await expect(attempt).rejects.toMatchObject({ exitCode: 64 });
    await expect(attempt).rejects.not.toMatchObject({ message: expect.stringContaining(DATABASE_PASSWORD) });
  },
);
