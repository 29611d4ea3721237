import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ledgerImbalances } from '../../src/measure/ledger.js';
import { type CompletedTrial, Result } from '../../src/measure/result.js';
import { connectClient } from '../../src/redis/clients.js';
import { startRedisServer } from '../../src/redis/redis-server.js';
import { type Ended, makeSandbox, type Sandbox } from '../support/weir-process.js';

/** The whole tool on real servers and processes: what a fault takes must be what the ledger says. */

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await makeSandbox();
});
afterEach(() => sandbox.remove());

async function runFaults(
  words: readonly string[],
): Promise<{ readonly ended: Ended; readonly result: Result; readonly trials: readonly CompletedTrial[] }> {
  const common = ['--quick', '--seed', '7', '--results', 'none', '--format', 'json', '--out', 'f.json'];
  const ended = await sandbox.run(['run', 'faults', ...words, ...common]);
  const text = await readFile(join(sandbox.folder, 'f.json'), 'utf8').catch(() => {
    throw new Error(`no result; exit code ${ended.code}: ${ended.stderr}`);
  });
  const result = Result.parse(JSON.parse(text));
  const trials = result.trials.map((trial) => {
    if (trial.state === 'failed') throw new Error(`${trial.variant}: ${trial.error}`);
    expect(ledgerImbalances(trial.ledger), trial.variant).toEqual([]);
    return trial;
  });
  return { ended, result, trials };
}

/** What each trial came to; in a failure the reasons show. */
const verdicts = (trials: readonly CompletedTrial[]) =>
  trials.map(({ variant, state, guarantee, validity }) => ({
    variant,
    state,
    guarantee: guarantee?.state,
    broken: [
      ...(guarantee?.broken ?? []),
      ...validity.filter(({ status }) => status === 'fail').map(({ evidence }) => evidence),
    ],
  }));
const kept = (trials: readonly CompletedTrial[]) =>
  trials.map(({ variant }) => ({ variant, state: 'measured', guarantee: 'kept', broken: [] }));

describe('weir run faults', () => {
  it('loses exactly what the handler refuses where nothing is acknowledged, and nothing where it is', async () => {
    const { ended, trials } = await runFaults([
      ...[
        '--patterns',
        'queue,pubsub,sharded-pubsub,stream-group,reliable-queue,stream-xread,durable-pubsub',
      ],
      ...['--faults', 'handler-throws', '--every', '4', '--messages', '100'],
    ]);
    expect(verdicts(trials)).toEqual(kept(trials));
    const lostBy = Object.fromEntries(
      trials.map(({ variant, ledger }) => [variant.split(' ')[0], [ledger.lost, ledger.delivered]]),
    );
    expect(lostBy).toEqual({
      queue: [25, 75],
      pubsub: [25, 75],
      'sharded-pubsub': [25, 75],
      'stream-group': [0, 100],
      'reliable-queue': [0, 100],
      'stream-xread': [0, 100],
      'durable-pubsub': [0, 100],
    });
    expect(ended.code).toBe(0);
  });

  it('has every effect once when offset and effects are one transaction, wherever the process is killed', async () => {
    const { trials } = await runFaults([
      ...['--patterns', 'stream-xread,durable-pubsub', '--faults', 'consumer-kill', '--offset', 'store'],
      ...['--crash-point', 'after-read,after-handling,while-draining,mid-pipeline', '--messages', '100'],
    ]);
    expect(trials).toHaveLength(8);
    expect(verdicts(trials)).toEqual(kept(trials));
    expect(trials.map(({ ledger }) => [ledger.lost, ledger.duplicated])).toEqual(trials.map(() => [0, 0]));
  });

  it('keeps the account of every send while Redis is away, and gets poison out of the dead letters', async () => {
    const { result, trials } = await runFaults([
      ...['--patterns', 'stream-group,reliable-queue', '--faults', 'redis-kill,poison,failover'],
      ...['--persistence', 'always', '--messages', '200'],
    ]);
    expect(verdicts(trials)).toEqual(kept(trials));
    const byFault = (fault: string) =>
      trials.filter(
        ({ variant }) => result.plan.variants.find(({ name }) => name === variant)?.factors.fault === fault,
      );
    // Redis was away for some of them, and each is known to have failed or to be in doubt.
    for (const { ledger, variant } of byFault('redis-kill')) {
      expect(ledger.failed + ledger.unknown, variant).toBeGreaterThan(0);
      expect(ledger, variant).toMatchObject({ attempted: 200, lost: 0 });
    }
    for (const { metrics, ledger, variant } of byFault('poison')) {
      expect(metrics.deadLettered?.value, variant).toBe(1);
      expect(ledger, variant).toMatchObject({ lost: 0, delivered: 200, where: { deadLettered: 0 } });
    }
  });

  it('stands ten rounds of a killed consumer, a restarted Redis and lost replies', async () => {
    const { trials } = await runFaults([
      ...['--patterns', 'stream-group', '--faults', 'storm', '--consumers', '3', '--batch', '100'],
      ...['--rate', '2000', '--messages', '20000'],
    ]);
    expect(verdicts(trials)).toEqual(kept(trials));
    expect(trials[0]?.ledger).toMatchObject({ attempted: 20_000, lost: 0 });
  });

  it('leaves a Redis of the user alone but for keys of its own, and says what it left out', async () => {
    const server = await startRedisServer();
    const { client, close } = await connectClient('node-redis', server.url, { name: 'test' });
    try {
      await client.send(['SET', 'theirs', '1']);
      const { result, trials } = await runFaults([
        ...['--redis', server.url, '--patterns', 'stream-group', '--messages', '50'],
        ...['--faults', 'connection-reset,none'],
      ]);
      expect(verdicts(trials)).toEqual(kept(trials));
      expect(result.environment.server.managed).toBe(false);
      expect(await client.send(['DBSIZE'])).toBe(1);
    } finally {
      await close();
      await server.stop();
    }
  });
});
