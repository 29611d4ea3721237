import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { CompletedTrial } from '../../src/measure/result.js';
import { Result } from '../../src/measure/result.js';
import { startRedisServer } from '../../src/redis/redis-server.js';
import { makeSandbox, type Sandbox } from '../support/weir-process.js';

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await makeSandbox();
});
afterEach(() => sandbox.remove());

const SMALL = [
  '--rounds',
  '1',
  '--users',
  '20',
  '--entries',
  '2000',
  '--duration',
  '0.5',
  '--warm-up',
  '0.1',
];

async function run(
  words: readonly string[],
): Promise<{ code: number | null; result: Result; stderr: string }> {
  const all = ['run', 'connections', ...SMALL, ...words, '--results', 'none', '--format', 'json'];
  const { code, stdout, stderr } = await sandbox.run(all);
  return { code, stderr, result: Result.parse(JSON.parse(stdout)) };
}

/** The first trial of a strategy, which must be there. */
function trialOf(result: Result, strategy: string): CompletedTrial {
  const variant = result.plan.variants.find(({ factors }) => factors.strategy === strategy);
  const trial = result.trials.find(({ variant: name }) => name === variant?.name);
  if (trial === undefined || trial.state === 'failed')
    throw new Error(`no trial of ${strategy}: ${trial?.error}`);
  return trial;
}

function statusOf({ validity }: CompletedTrial, check: string): string | undefined {
  return validity.find(({ id }) => id === check)?.status;
}

describe('weir run connections', () => {
  it('finds the connections, hits and commands that each strategy declares', async () => {
    const words = ['--strategy', 'per-request,pool,multiplexed', '--pool', '3,12', '--test-on-borrow'];
    const { code, result } = await run([...words, '--hit-rate', '0.25', '--apps', '2']);
    expect(code).toBe(0);
    for (const trial of result.trials) {
      if (trial.state === 'failed') throw new Error(trial.error);
      expect(trial.validity.filter(({ status }) => status === 'fail')).toEqual([]);
      expect(statusOf(trial, 'declared-vs-observed')).toBe('pass');
      expect(statusOf(trial, 'ledger-balance')).toBe('pass');
      const { attempted, acknowledged } = trial.ledger;
      expect({ acknowledged }).toEqual({ acknowledged: attempted });
      expect(trial.redis.commandstats.hget?.calls).toBe(attempted);
      expect(trial.resources).toMatchObject({ producer: {}, app: {} });
    }
    const seen = (strategy: string, metric: string): number | undefined =>
      trialOf(result, strategy).metrics[metric]?.value;
    // Two apps with a connection of their own each, the pools, and the one that watches.
    expect(seen('pool-3', 'connections')).toBe(2 * (1 + 3) + 1);
    expect(seen('pool-12', 'connections')).toBe(2 * (1 + 12) + 1);
    expect(seen('multiplexed', 'connections')).toBe(2 + 1);
    expect(seen('per-request', 'connectionsPerRequest')).toBeCloseTo(1, 1);
    expect(seen('pool-3', 'commandsPerRequest')).toBeCloseTo(1, 1);
    expect(seen('pool-3-tested', 'commandsPerRequest')).toBeCloseTo(2, 1);
    expect(statusOf(trialOf(result, 'multiplexed'), 'littles-law')).toBeDefined();
  });

  it('measures saving, leaves nothing on a Redis of the user, and refuses keys that are there', async () => {
    const server = await startRedisServer();
    onTestFinished(() => server.stop());
    const words = ['--strategy', 'multiplexed', '--request', 'save', '--redis', server.url];
    const { result } = await run(words);
    expect(trialOf(result, 'multiplexed').redis.commandstats.hset?.calls).toBeGreaterThan(0);
    const { connectClient } = await import('../../src/redis/clients.js');
    const monitor = await connectClient('node-redis', server.url, { name: 'test' });
    onTestFinished(() => monitor.close());
    expect(await monitor.client.send(['DBSIZE'])).toBe(0);
    await monitor.client.send(['SET', 'weir:point:1', 'somebody else']);
    const refused = await sandbox.run(['run', 'connections', ...SMALL, ...words, '--results', 'none']);
    expect(refused.stderr).toContain('already holds a key "weir:point:1"');
    expect(refused).toMatchObject({ code: 64, stdout: '' });
  });

  it('says before the run that Redis takes fewer connections', async () => {
    const server = await startRedisServer({ config: { maxclients: '20' } });
    onTestFinished(() => server.stop());
    const words = ['run', 'connections', ...SMALL, '--strategy', 'pool', '--pool', '64'];
    const refused = await sandbox.run([...words, '--redis', server.url, '--results', 'none']);
    expect(refused.stderr).toContain('pool-64 may open 67 connections with 1 apps');
    expect(refused.stderr).toContain('this Redis takes 20 (maxclients)');
    expect(refused).toMatchObject({ code: 64, stdout: '' });
  });

  it('measures an open load from the intended time, whatever the schedule was worth', async () => {
    const { result } = await run(['--strategy', 'multiplexed', '--rate-sweep', '50,100']);
    expect(result.plan.factors.rate).toEqual([50, 100]);
    for (const trial of result.trials) {
      if (trial.state === 'failed') throw new Error(trial.error);
      expect(trial.ledger.attempted).toBe(Number(/rate=(\d+)/.exec(trial.variant)?.[1]) / 2);
      expect(trial.histograms.latency?.count).toBe(trial.ledger.attempted);
      expect(trial.histograms.service?.count).toBe(trial.ledger.attempted);
      expect(statusOf(trial, 'missed-schedule')).toBeDefined();
      expect(statusOf(trial, 'littles-law')).toBeUndefined();
    }
  });

  it('replays the publication with its connections beside the honest result', async () => {
    const { result } = await run(['--strategy', 'pool,multiplexed', '--pool', '128', '--as-published']);
    const { asPublished } = result.summary;
    expect(asPublished?.rows.map(({ published }) => published)).toEqual([31_000, 55_000, 100_000]);
    for (const { replayed } of asPublished?.rows ?? []) expect(replayed).toBeGreaterThan(0);
    expect(asPublished?.rows.map(({ measured }) => measured === null)).toEqual([true, false, false]);
    const said = asPublished?.sentences.join('\n');
    expect(said).toContain('no pool (a pool of 8): 10 connections here, 35 as published');
    expect(said).toContain('take 23.9 ms each');
  });

  it('gives no ranking of apps of which one answers 500 to everything, and ends with 3', async () => {
    const [good, bad] = await Promise.all([200, 500].map(appAnswering));
    const { code, result } = await run(['--app', `good=${good},bad=${bad}`]);
    expect(code).toBe(3);
    expect(result.validity.find(({ id }) => id === 'failed-operations')?.status).toBe('fail');
    const trial = trialOf(result, 'bad');
    expect(trial.state).toBe('invalid');
    expect(trial.ledger.attempted).toBeGreaterThan(0);
    expect(trial.ledger).toMatchObject({ failed: trial.ledger.attempted, acknowledged: 0 });
    expect(result.summary.comparisons.map(({ verdict }) => verdict)).toEqual(['none']);
    expect(result.summary.findings.join('\n')).toContain('no ranking: failed-operations');
  });

  it('says that an app is not there, with its name and address', async () => {
    const words = ['run', 'connections', ...SMALL, '--app', 'gone=http://127.0.0.1:1', '--results', 'none'];
    const { code, stdout, stderr } = await sandbox.run(words);
    expect(stderr).toContain('the app gone at http://127.0.0.1:1 does not answer');
    expect({ code, stdout }).toEqual({ code: 69, stdout: '' });
  });

  it('counts requests that nobody answers as unknown', async () => {
    const server = createServer(({ url, socket }, response) =>
      url === '/' ? response.end() : socket.destroy(),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = addressOf(server);
    const { code, result } = await run(['--app', `broken=http://127.0.0.1:${port}`, '--rate', '100']);
    expect(code).toBe(3);
    const { ledger } = trialOf(result, 'broken');
    expect(ledger).toMatchObject({ attempted: 50, unknown: 50, acknowledged: 0, failed: 0 });
  });
});

/** An app that answers every request with this status. @returns its URL */
async function appAnswering(status: number): Promise<string> {
  const server = createServer((_, response) => {
    response.statusCode = status;
    response.end(String(status));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${addressOf(server).port}`;
}

function addressOf(server: ReturnType<typeof createServer>): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address;
}
