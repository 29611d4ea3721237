import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../src/cli/exit-code.js';
import { Result } from '../../src/measure/result.js';
import { startRedisServer } from '../../src/redis/redis-server.js';
import { loadChecks } from '../../src/validity/load-checks.js';
import { makeSandbox, type Sandbox, until } from '../support/weir-process.js';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await makeSandbox();
});
afterEach(() => sandbox.remove());

const SMALL = [
  'run',
  'messaging',
  '--patterns',
  'queue',
  '--messages',
  '300',
  '--warm-up',
  '0.1',
  '--seed',
  '7',
];
/** Longer than any test waits: these runs are ended from outside, after their first trial. */
const LONG = [...SMALL, '--rounds', '500'];
const FIRST_TRIAL_DONE = /\[ *1\/1000\]/;

async function storedJson(words: readonly string[] = []): Promise<Result> {
  const { stdout } = await sandbox.run(['report', 'latest', '--format', 'json', ...words]);
  return Result.parse(JSON.parse(stdout));
}

/** Servers and workers end after weir itself; that they do end is what counts. */
async function nothingIsLeft(): Promise<void> {
  await until('no file and no process is left', async () => (await sandbox.leftovers()).length === 0);
}

describe('weir run', () => {
  it('writes the result to --out, keeps stdout empty, and stores the same result', async () => {
    const { code, stdout, stderr } = await sandbox.run(
      [...SMALL, '--rounds', '1', '--format', 'json', '--out', 'r.json'],
      { FORCE_COLOR: '1' },
    );
    expect(stderr).toContain('weir: warning: 1 round: no 95 % interval exists below 6');
    expect(stderr).toMatch(/\[2\/2\] round 1/);
    expect(stderr, 'no colour in a pipe').not.toContain('\u001b');
    expect(stdout).toBe('');
    const result = Result.parse(JSON.parse(await readFile(join(sandbox.folder, 'r.json'), 'utf8')));
    expect(result).toMatchObject({ status: 'completed', plan: { rounds: 1, seed: 7 } });
    expect(result.trials).toHaveLength(2);
    expect(code).toBe(exitCodeOf(result, await loadChecks()));
    await nothingIsLeft();

    expect(await storedJson()).toEqual(result);
    expect((await sandbox.run(['results'])).stdout).toContain(result.id);
    const report = await sandbox.run(['report', result.id.slice(0, 15)]);
    expect(report.stdout).toContain(`weir report ${result.id}`);
    expect(await exitCodeInFrontOfHead()).toBe('0\n');
  });
});

/** The reader of a pipe goes away before all is written: what weir ends with, and whatever it complains of. */
async function exitCodeInFrontOfHead(): Promise<string> {
  const weir = new URL('../../bin/weir.js', import.meta.url).pathname;
  const script = `"${process.execPath}" "${weir}" report --format json | head -c 10 >/dev/null; echo "\${PIPESTATUS[0]}"`;
  const shell = spawn('bash', ['-c', script], { cwd: sandbox.folder });
  let said = '';
  for (const stream of [shell.stdout, shell.stderr]) {
    stream.on('data', (chunk) => {
      said += String(chunk);
    });
  }
  await once(shell, 'close');
  return said;
}

describe('a run that is ended early', () => {
  it('by SIGINT keeps and reports finished trials, with 130', async () => {
    const weir = sandbox.start(LONG);
    await weir.says(FIRST_TRIAL_DONE);
    weir.kill('SIGINT');
    const { code, stdout } = await weir.ended;
    expect(code).toBe(130);
    expect(stdout).toMatch(/INTERRUPTED {2}after \d+ of 1000 trials/);
    const stored = await storedJson();
    expect(stored.status).toBe('interrupted');
    expect(stored.trials.length).toBeGreaterThan(0);
    await nothingIsLeft();
  });

  it('by SIGTERM does the same, and stores nothing with --results none', async () => {
    const weir = sandbox.start([...LONG, '--results', 'none']);
    await weir.says(/seed 7/);
    weir.kill('SIGTERM');
    const { code, stdout } = await weir.ended;
    expect(code).toBe(130);
    expect(stdout).toMatch(/INTERRUPTED {2}after \d+ of 1000 trials/);
    expect(await readdir(sandbox.folder)).toEqual(['tmp']);
    await nothingIsLeft();
  });

  it('by a second signal ends at once and still leaves nothing behind', async () => {
    const weir = sandbox.start([...LONG, '--out', 'r.txt']);
    await weir.says(FIRST_TRIAL_DONE);
    weir.kill('SIGINT');
    await weir.says(/Once more/);
    weir.kill('SIGINT');
    const { code, stdout } = await weir.ended;
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    await nothingIsLeft();
    expect((await storedJson()).status).toBe('interrupted');
  });

  it('by the death of Redis is failed, with 69, and keeps what was measured', async () => {
    const server = await startRedisServer({ config: { requirepass: 's3cret' } });
    try {
      const weir = sandbox.start([...LONG, '--redis', server.url]);
      await weir.says(FIRST_TRIAL_DONE);
      await server.kill();
      const { code, stdout, stderr } = await weir.ended;
      expect(code).toBe(69);
      expect(stdout).toMatch(/FAILED {2}after \d+ of 1000 trials: Redis at/);
      expect(stdout + stderr).not.toContain('s3cret');
      const stored = await storedJson();
      expect(stored.status).toBe('failed');
      expect(JSON.stringify(stored)).not.toContain('s3cret');
      expect(stored.trials[0]?.state).toBe('measured');
      await nothingIsLeft();
    } finally {
      await server.stop();
    }
  });
});
