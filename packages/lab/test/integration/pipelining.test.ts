import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CompletedTrial, Result } from '../../src/measure/result.js';
import { connectClient } from '../../src/redis/clients.js';
import { startRedisServer } from '../../src/redis/redis-server.js';
import { type Ended, makeSandbox, type Sandbox } from '../support/weir-process.js';

/** `weir run pipelining` as a user runs it, on a real server: what it reports must be what happened. */

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await makeSandbox();
});
afterEach(() => sandbox.remove());

interface Run {
  readonly ended: Ended;
  readonly result: Result;
  readonly trials: readonly CompletedTrial[];
}

async function runPipelining(...words: string[]): Promise<Run> {
  const ended = await sandbox.run(['run', 'pipelining', ...words, '--format', 'json', '--out', 'r.json']);
  const text = await readFile(join(sandbox.folder, 'r.json'), 'utf8').catch(() => {
    throw new Error(`no result; exit code ${ended.code}: ${ended.stderr}`);
  });
  const result = Result.parse(JSON.parse(text));
  const trials = result.trials.map((trial) => {
    if (trial.state === 'failed') throw new Error(`trial ${trial.id} of ${trial.variant}: ${trial.error}`);
    return trial;
  });
  return { ended, result, trials };
}

/** Nothing the checks call wrong; what a busy machine makes unsteady is only a warning. */
function expectSound({ trials }: Run): void {
  for (const { variant, ledger, validity } of trials) {
    expect(ledger.acknowledged, variant).toBe(ledger.attempted);
    expect(ledger, variant).toMatchObject({ failed: 0, unknown: 0, lost: 0 });
    expect(
      validity.filter(({ status }) => status === 'fail'),
      variant,
    ).toEqual([]);
  }
}

const medianOf = ({ result }: Run, name: string, metric: string): number =>
  result.summary.variants.find((variant) => variant.name === name)?.metrics[metric]?.median ?? Number.NaN;

describe('weir run pipelining', () => {
  it('measures depths over two clients on verified keys, and says where no more is gained', async () => {
    const run = await runPipelining(
      ...['--rounds', '6', '--duration', '0.1', '--depth', '1,128', '--client', 'node-redis,ioredis'],
    );
    expectSound(run);
    const { ended, result, trials } = run;
    expect(ended.stdout).toBe('');
    // 2 depths x 2 clients and an A/A copy in each of the 2 groups, 6 rounds.
    expect(trials).toHaveLength(36);
    for (const client of ['node-redis', 'ioredis']) {
      const faster = result.summary.comparisons.find(
        ({ group, candidate }) => group.includes(client) && candidate.includes('depth=128'),
      );
      expect(faster?.ratio, client).toBeGreaterThan(1.5);
      expect(faster?.ci95, client).not.toBeNull();
      expect(result.summary.findings.join('\n')).toMatch(
        new RegExp(`pipeline over ${client}: .*noise floor`),
      );
    }
    const declared = trials.flatMap(({ validity }) =>
      validity.filter(({ id, status }) => id === 'declared-vs-observed' && status === 'pass'),
    );
    expect(declared).toHaveLength(36);
    expect(declared[0]?.evidence).toMatch(/operations per read of the server/);
    expect(await sandbox.leftovers()).toEqual([]);
  });

  it('finds that the speed-up grows with the round trip', async () => {
    const run = await runPipelining(
      ...['--rounds', '1', '--duration', '0.2', '--operations', '1000', '--depth', '1,500', '--rtt', '0,5'],
    );
    expectSound(run);
    const speedUp = (rtt: number): number =>
      medianOf(run, `pipeline depth=500 rtt=${rtt}`, 'throughput') /
      medianOf(run, `pipeline depth=1 rtt=${rtt}`, 'throughput');
    expect(speedUp(5)).toBeGreaterThan(1.5 * speedUp(0));
    expect(medianOf(run, 'pipeline depth=1 rtt=5', 'pingRoundTrip')).toBeGreaterThanOrEqual(5e6);
    expect(medianOf(run, 'pipeline depth=1 rtt=0', 'pingRoundTrip')).toBeLessThan(5e6);
    expect(run.result.summary.findings.join('\n')).toMatch(/rtt 5 ms: a PING takes [5-9]\.\d+ ms/);
  });

  it.each(['set', 'get', 'incr', 'xadd'])(
    'carries out %s by every method and gets the right answers',
    async (command) => {
      const manyAtOnce = command === 'set' || command === 'get' ? ',mset' : '';
      const run = await runPipelining(
        ...[
          '--rounds',
          '1',
          '--duration',
          '0.1',
          '--command',
          command,
          '--operations',
          '1000',
          '--depth',
          '50',
        ],
        ...['--methods', `sequential,pipeline,auto-pipelining,promise-all,multi,lua${manyAtOnce}`],
      );
      expectSound(run);
      expect(run.trials.length).toBe(manyAtOnce === '' ? 7 : 8);
    },
  );

  it('leaves the keys of others alone, and nothing of its own, on a given Redis', async () => {
    const server = await startRedisServer();
    const owner = await connectClient('node-redis', server.url, { name: 'owner' });
    try {
      await owner.client.send(['SET', 'theirs', 'value']);
      const words = [
        '--rounds',
        '1',
        '--duration',
        '0.1',
        '--operations',
        '500',
        '--depth',
        '10,100',
        '--redis',
        server.url,
      ];
      expectSound(await runPipelining(...words));
      expect(await owner.client.send(['DBSIZE'])).toBe(1);

      await owner.client.send(['SET', 'weir:pipelining:0', 'theirs too']);
      const refused = await sandbox.run(['run', 'pipelining', ...words]);
      expect(refused).toMatchObject({ code: 64, stdout: '' });
      expect(refused.stderr).toContain('weir:pipelining:0');
      expect(String(await owner.client.send(['GET', 'weir:pipelining:0']))).toBe('theirs too');
    } finally {
      await owner.close();
      await server.stop();
    }
  });

  it('replays the published method beside the honest result', async () => {
    const { result } = await runPipelining(
      ...['--rounds', '1', '--duration', '0.2', '--depth', '1,10000', '--as-published'],
    );
    const { asPublished } = result.summary;
    expect(asPublished?.rows.map(({ variant }) => variant)).toEqual(['one by one', 'one pipeline']);
    for (const { replayed, measured } of asPublished?.rows ?? []) {
      expect(replayed).toBeGreaterThan(0);
      expect(measured).toBeGreaterThan(0);
    }
    expect(asPublished?.sentences[0]).toMatch(/^As published, one pipeline is [\d.,]+ times as fast/);
  });

  it.each([
    ['--depth 0', 'a whole number'],
    ['--depth 20000', 'at most --operations'],
    ['--depth 10000000 --operations 10000000 --payload 1000000', /need about [\d.,]+ GiB of memory/],
    ['--operations 0', 'a whole number'],
    ['--rtt -1', '--rtt'],
    ['--rtt 5x', '--rtt'],
    ['--methods turbo', 'known methods: sequential'],
    ['--methods mset --command incr', 'only SET and GET'],
    ['--client jedis', 'known clients: node-redis, ioredis, iovalkey, valkey-glide'],
    ['--command flushall', 'one of set, get, incr, xadd'],
  ])('refuses %s, with what would be right, before anything runs', async (words, expected) => {
    const ended = await sandbox.run(['run', 'pipelining', ...words.split(' ')]);
    expect(ended).toMatchObject({ code: 64, stdout: '' });
    expect(ended.stderr).toMatch(expected);
    expect(await sandbox.leftovers()).toEqual([]);
  });
});
