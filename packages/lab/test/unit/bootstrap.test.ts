import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

/** The script is plain JavaScript because it runs before anything is installed; these are its pure parts. */
interface Bootstrap {
  isTooOld(version: string, engines: string): boolean;
  isStale(madeMs: number | undefined, sourcesMs: readonly number[]): boolean;
  installPlan(
    need: { programs: string[]; apt: string[]; brew: string[] },
    machine: { isRoot: boolean; sudoIsFree: boolean; has(program: string): boolean },
  ): { state: 'run'; commands: { line: string[]; mayFail: boolean }[] } | { state: 'ask'; remedy: string };
  commandLine(name: string, userArguments: readonly string[]): string[];
  exitCodeOf(code: number | null, signal: string | null): number;
}

const script = new URL('../../../../scripts/bootstrap.mjs', import.meta.url);
const { isTooOld, isStale, installPlan, commandLine, exitCodeOf }: Bootstrap = await import(script.href);

describe('bootstrap', () => {
  it.each([
    ['v20.18.1', true],
    ['v18.20.0', true],
    ['v20.19.0', false],
    ['v20.20.2', false],
    ['v22.0.0', false],
    ['v24.1.0', false],
  ])('asked for >=20.19 finds %s too old: %s', (version, tooOld) => {
    expect(isTooOld(version, '>=20.19')).toBe(tooOld);
  });

  it('does a step again only when a source is newer than what was made of it', () => {
    expect(isStale(undefined, [])).toBe(true);
    expect(isStale(100, [])).toBe(false);
    expect(isStale(100, [99, 100])).toBe(false);
    expect(isStale(100, [99, 101])).toBe(true);
  });

  describe('installing redis', () => {
    const need = { programs: ['redis-server', 'valkey-server'], apt: ['redis-server'], brew: ['redis'] };
    const on = (programs: string[], isRoot = false, sudoIsFree = false) =>
      installPlan(need, { isRoot, sudoIsFree, has: (program) => programs.includes(program) });
    const lines = (plan: ReturnType<typeof on>) =>
      plan.state === 'run' ? plan.commands.map(({ line }) => line.join(' ')) : [];

    it('updates the package lists first, and installs even if that failed', () => {
      const plan = on(['apt-get'], true);
      expect(lines(plan)).toEqual([
        'env DEBIAN_FRONTEND=noninteractive apt-get update',
        'env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends redis-server',
      ]);
      expect(plan.state === 'run' && plan.commands.map(({ mayFail }) => mayFail)).toEqual([true, false]);
    });

    it('uses sudo only where it asks no password', () => {
      expect(lines(on(['apt-get', 'sudo'], false, true))[1]).toMatch(
        /^sudo -n env .* install .*redis-server$/,
      );
      expect(on(['apt-get', 'sudo'])).toEqual({
        state: 'ask',
        remedy: 'sudo apt-get install -y --no-install-recommends redis-server',
      });
    });

    it('uses brew on a Mac, and asks where there is no known package manager', () => {
      expect(lines(on(['brew']))).toEqual(['brew install redis']);
      expect(on([])).toEqual({
        state: 'ask',
        remedy: expect.stringContaining('redis-server or valkey-server'),
      });
    });
  });

  it('puts the arguments of the user last, so that they win', () => {
    expect(commandLine('start', ['--rounds', '6'])).toEqual([
      'packages/lab/bin/weir.js',
      'run',
      'messaging',
      '--quick',
      '--patterns',
      'queue,stream-xread,stream-group,pubsub',
      '--batch',
      '1,100',
      '--store',
      'sqlite',
      '--rounds',
      '6',
    ]);
    expect(commandLine('test', ['--project', 'unit'])).toEqual([
      'node_modules/vitest/vitest.mjs',
      'run',
      '--project',
      'unit',
    ]);
    expect(commandLine('bench', ['--json'])).toEqual(['bench/dist/main.js', '--json']);
  });

  it('ends as the command ended', () => {
    expect(exitCodeOf(3, null)).toBe(3);
    expect(exitCodeOf(null, 'SIGINT')).toBe(130);
    expect(exitCodeOf(null, 'SIGKILL')).toBe(137);
  });

  it('refuses a command it does not know, with nothing on stdout', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(script), 'nope'], {
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 64, stdout: '' });
    expect(stderr).toMatch(/nope[\s\S]*start,test,bench/);
  });
});
