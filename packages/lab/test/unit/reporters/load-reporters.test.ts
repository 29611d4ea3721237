import { describe, expect, it } from 'vitest';
import { loadReporters } from '../../../src/reporters/load-reporters.js';
import { resultFixture } from '../../support/result-fixture.js';

describe('reporters', () => {
  it('offers what lies in the folder', async () => {
    const reporters = await loadReporters();
    expect([...reporters.keys()]).toEqual(expect.arrayContaining(['json', 'text']));
  });

  it('all end their document with a line end, so that files and pipes are well formed', async () => {
    for (const reporter of (await loadReporters()).values()) {
      const document = reporter.render(resultFixture(), { color: false, width: 100 });
      expect(document, reporter.name).toMatch(/[^\n]\n$/);
    }
  });
});
