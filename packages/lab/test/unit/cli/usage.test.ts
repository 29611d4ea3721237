import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { weir } from '../../support/command-line.js';

// Commands load what they need when they are called, and on a busy machine that alone takes seconds.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

/** Results and temporary files of these commands go here; nothing may be left in it. */
let folder: string;
let results: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-usage-'));
  results = `sqlite:${join(folder, 'results.db')}`;
  vi.stubEnv('TMPDIR', folder);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

describe('wrong usage ends with 64, says what would be right on stderr and leaves stdout empty', () => {
  it.each([
    ['', 'Usage: weir'],
    ['rum', "unknown command 'rum'"],
    ['rum', 'Did you mean run?'],
    ['run', 'known experiments: connections, faults, messaging'],
    ['run nope', 'there is no experiment "nope"'],
    ['run --quick messaging', 'its name comes before the options'],
    ['run messaging --quik', 'Did you mean --quick?'],
    ['run messaging --rounds 1e9x', '--rounds is "1e9x"; it must be a whole number'],
    ['run messaging --rounds -1', '--rounds is "-1"'],
    ['run messaging --rounds 0', '--rounds is "0"'],
    ['run messaging --messages 0', '--messages is "0"'],
    ['run messaging --messages -1', '--messages is "-1"'],
    ['run messaging --messages 1e9x', '--messages is "1e9x"'],
    ['run messaging --batch 0', '--batch is "0"'],
    ['run messaging --margin 3', '--margin is "3"; it must be a percentage'],
    ['run messaging --quick --rounds 8', 'cannot be used with'],
    ['run messaging --redis redis://:s3cret@h --redis-server x', 'cannot be used with'],
    ['run messaging --redis http://me:s3cret@h --results none', '--redis is'],
    ['run messaging --patterns nope', 'there is no pattern "nope"'],
    ['run messaging --patterns nope', 'known patterns: '],
    ['run messaging --client nope', 'there is no client "nope"'],
    ['run messaging --store nope', 'nope'],
    ['run messaging --format xml', 'Allowed choices are json, text'],
    ['run messaging --results csv:x', 'there is no database "csv"'],
    ['run messaging --results csv:x', 'mysql://[user'],
    ['plan messaging --patterns nope', 'there is no pattern "nope"'],
    [
      'run faults --lease 100 --block 200',
      '--lease is "100"; it must be a number of milliseconds above --block (200)',
    ],
    ['run faults --lease -1', '--lease is "-1"; it must be a whole number'],
    ['run faults --every 0', '--every is "0"; it must be a whole number from 1'],
    ['run faults --faults nope', 'there is no fault "nope"'],
    ['run faults --faults trim --crash-point while-draining', 'trim cannot strike while-draining'],
    ['run faults --crash-point nowhere', '--crash-point is "nowhere"; it must be one of after-read'],
    [
      'run faults --faults redis-kill,trim --redis redis://127.0.0.1:1',
      'redis-kill: not possible with --redis',
    ],
    [
      'run faults --persistence always --redis redis://127.0.0.1:1',
      '--persistence is not possible with --redis',
    ],
    ['run faults --client valkey-glide', '--client is "valkey-glide"; it must be a library that tells'],
    ['run faults --store none', '--store is "none"; it must be a store that keeps rows'],
    ['list nope', 'Allowed choices are experiments'],
    ['results --limit 0', '--limit is "0"'],
    ['dead-letters', 'known actions: list, replay, remove'],
    ['dead-letters lst', 'there is no action "lst"'],
    ['dead-letters list', "required option '--pattern <name>' not specified"],
    ['dead-letters list --pattern nope', 'there is no pattern "nope"'],
    ['dead-letters list --pattern queue', 'queue has no dead letters'],
    ['dead-letters list --pattern queue', 'those that have: '],
    ['dead-letters list --pattern stream-group --count 0', '--count is "0"'],
    ['dead-letters list --pattern stream-group --redis http://me:s3cret@h', '--redis is'],
    ['dead-letters replay --pattern stream-group', 'name them with --id, or say --all'],
    ['dead-letters remove --pattern stream-group --id x', '--id is "x"'],
    ['dead-letters replay --pattern stream-group --all --id 1-1', 'cannot be used with'],
  ])('weir %s: %s', async (line, said) => {
    const { code, stdout, stderr } = await weir(line);
    expect(stderr).toContain(said);
    expect(stderr).not.toContain('s3cret');
    expect(stderr).not.toMatch(/\n {4}at /);
    expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('what is missing ends with 69', () => {
  it('a Redis that does not answer, named without its password', async () => {
    const line = 'run messaging --results none --redis redis://me:s3cret@127.0.0.1:1';
    const { code, stdout, stderr } = await weir(line);
    expect(stderr).toContain('redis://127.0.0.1:1 does not answer');
    expect(stderr).not.toContain('s3cret');
    expect({ code, stdout }).toEqual({ code: 69, stdout: '' });
  });

  it('a server program that is none', async () => {
    const { code, stderr } = await weir('run messaging --results none --redis-server /nowhere/redis-server');
    expect(stderr).toContain('/nowhere/redis-server is not a program that can be run');
    expect(code).toBe(69);
  });
});

describe('an output that cannot be written is found before the run, with 73', () => {
  it.each(['/dev/full', '/nowhere/r.json', '.'])('--out %s', async (file) => {
    const { code, stdout, stderr } = await weir(`run messaging --results none --out ${file}`);
    expect(stderr).toContain(`weir: cannot write ${file}: `);
    expect({ code, stdout }).toEqual({ code: 73, stdout: '' });
    expect(await readdir(folder)).toEqual([]);
  });

  it('and so are results', async () => {
    const { code, stdout } = await weir('run messaging --results sqlite:/dev/null/r.db');
    expect({ code, stdout }).toEqual({ code: 73, stdout: '' });
  });
});

describe('what only looks', () => {
  it('prints the version', async () => {
    expect(await weir('--version')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
  });

  it.each(['run messaging --help', 'help run messaging'])('weir %s shows every option', async (line) => {
    const help = await weir(line);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const option of ['--patterns', '--messages', '--quick', '--redis-server', '--out', '--results']) {
      expect(help.stdout).toContain(option);
    }
  });

  it('lists what there is, as text and as JSON', async () => {
    expect((await weir('list')).stdout).toMatch(/experiments\n[\s\S]+messaging/);
    const names = JSON.parse((await weir('list patterns --format json')).stdout).map(
      ({ name }: { name: string }) => name,
    );
    expect(names).toEqual(expect.arrayContaining(['queue', 'stream-xread', 'stream-group', 'pubsub']));
  });

  it('plans the same for the same seed, and starts nothing', async () => {
    const line = 'plan messaging --patterns queue,pubsub --batch 1,100 --quick --seed 7';
    const first = await weir(`${line} --format json`);
    expect(await weir(`${line} --format json`)).toEqual(first);
    const plan = JSON.parse(first.stdout);
    expect(plan).toMatchObject({ rounds: 8, seed: 7, precision: 'quick' });
    expect(plan.variants).toHaveLength(5);
    expect(plan.order.flat()).toHaveLength(40);
    expect(plan.estimateMs).toBeGreaterThan(0);
    expect((await weir(line)).stdout).toContain(plan.sha256);
    expect(await readdir(folder)).toEqual([]);
  });

  it('finds this machine fit, and one without a server not', async () => {
    const fit = await weir('doctor --format json');
    const states = JSON.parse(fit.stdout).map((report: { name: string; state: string }) => [
      report.name,
      report.state,
    ]);
    expect(states).toEqual(
      expect.arrayContaining([
        ['redis-server', 'ok'],
        ['better-sqlite3', 'ok'],
      ]),
    );
    expect(fit.code).toBe(0);
    const path = process.env.PATH;
    vi.stubEnv('PATH', '/nowhere');
    const unfit = await weir('doctor').finally(() => vi.stubEnv('PATH', path));
    expect(unfit.stdout).toMatch(/missing +redis-server[\s\S]+install/);
    expect(unfit.code).toBe(69);
  });

  it('says what to do when nothing is stored yet', async () => {
    const list = await weir(`results --results ${results}`);
    expect(list).toMatchObject({ code: 0, stdout: expect.stringContaining('weir run messaging') });
    const report = await weir(`report nope --results ${results}`);
    expect(report).toMatchObject({ code: 64, stdout: '', stderr: expect.stringContaining('"nope"') });
  });
});
