import { afterEach, expect, it, vi } from 'vitest';
import { DOCTOR_PROBES } from '../../../src/cli/doctor-probes.js';

afterEach(() => vi.unstubAllEnvs());

it('looks at all that weir needs', async () => {
  const names = DOCTOR_PROBES.map(({ name }) => name);
  expect(names).toEqual([
    'Node.js',
    'redis-server',
    'better-sqlite3',
    'cores',
    'free memory',
    'free disk',
    'open files',
  ]);
  for (const { name, probe } of DOCTOR_PROBES) {
    expect((await probe()).found, name).not.toBe('');
  }
});

it('names the command that installs a server where there is none', async () => {
  vi.stubEnv('PATH', '/nowhere');
  const probe = DOCTOR_PROBES.find(({ name }) => name === 'redis-server');
  expect(await probe?.probe()).toMatchObject({ state: 'missing', mend: expect.stringContaining('install') });
});
