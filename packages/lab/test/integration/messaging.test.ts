import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeHistogram } from '../../src/measure/histogram.js';
import { ledgerImbalances } from '../../src/measure/ledger.js';
import { type CompletedTrial, type Ledger, Result } from '../../src/measure/result.js';
import { connectClient } from '../../src/redis/clients.js';
import { type RedisServer, startRedisServer } from '../../src/redis/redis-server.js';
import { type Ended, makeSandbox, type Sandbox, until } from '../support/weir-process.js';

/** The whole tool on real servers: what it reports must be what happened. */

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await makeSandbox();
});
afterEach(() => sandbox.remove());

const EVERY_PATTERN = 'queue,stream-xread,stream-group,pubsub';

async function runMessaging(
  words: readonly string[],
): Promise<{ readonly ended: Ended; readonly result: Result; readonly trials: readonly CompletedTrial[] }> {
  const ended = await sandbox.run(['run', 'messaging', ...words, '--format', 'json', '--out', 'r.json']);
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

const total = (trials: readonly CompletedTrial[], fate: Exclude<keyof Ledger, 'where'>): number =>
  trials.reduce((sum, { ledger }) => sum + ledger[fate], 0);

describe('weir run messaging', () => {
  it('accounts for every message of every pattern, at every batch, in both clients, into the store', async () => {
    const { ended, result, trials } = await runMessaging([
      ...['--patterns', EVERY_PATTERN, '--batch', '1,100', '--client', 'node-redis,ioredis'],
      ...['--messages', '400', '--rounds', '1', '--warm-up', '0.1', '--seed', '7', '--store', 'sqlite'],
    ]);
    expect(ended.stdout).toBe('');
    const schema: unknown = JSON.parse(
      await readFile(new URL('../../schema/result.schema.json', import.meta.url), 'utf8'),
    );
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(Object(schema));
    expect(validate(JSON.parse(JSON.stringify(result))), JSON.stringify(validate.errors)).toBe(true);

    // 4 patterns x 2 batches x 2 clients, and an A/A copy in each of the 4 groups.
    expect(trials).toHaveLength(20);
    expect(result.plan.variants.filter(({ role }) => role === 'a-a')).toHaveLength(4);
    for (const { variant, ledger, validity } of trials) {
      expect(ledger, variant).toMatchObject({ attempted: 400, acknowledged: 400, delivered: 400 });
      expect(ledger, variant).toMatchObject({ lost: 0, duplicated: 0, unexpected: 0, outOfOrder: 0 });
      expect(ledgerImbalances(ledger), variant).toEqual([]);
      expect(
        validity.filter(({ status }) => status === 'fail'),
        variant,
      ).toEqual([]);
    }
    expect(result.summary.comparisons.map(({ verdict }) => verdict)).toEqual(Array(12).fill('none'));
  });

  it('shares work among several producers and consumers, and counts fan-out by the slowest', async () => {
    const { trials } = await runMessaging([
      ...['--patterns', EVERY_PATTERN, '--producers', '2', '--consumers', '2'],
      ...['--messages', '1000', '--rounds', '1', '--warm-up', '0.1', '--seed', '7'],
    ]);
    for (const { variant, ledger } of trials) {
      expect(ledger, variant).toMatchObject({ attempted: 1000, delivered: 1000, lost: 0, duplicated: 0 });
    }
  });

  it('drains a backlog, of the patterns that keep one', async () => {
    const { result, trials } = await runMessaging([
      ...['--mode', 'backlog', '--messages', '2000', '--rounds', '1', '--warm-up', '0.1', '--seed', '7'],
    ]);
    expect(result.plan.factors.pattern).not.toContain('pubsub');
    for (const { variant, ledger, metrics } of trials) {
      expect(ledger, variant).toMatchObject({ delivered: 2000, lost: 0, duplicated: 0 });
      expect(metrics.drainRate?.value, variant).toBeGreaterThan(0);
    }
  });
});

describe('measures itself', () => {
  let server: RedisServer;
  beforeEach(async () => {
    server = await startRedisServer();
  });
  afterEach(() => server.stop());

  /** Calls `meddle` each time the measured load of a trial has begun: more messages written than in the warm-up. */
  async function whileRunning(
    words: readonly string[],
    meddle: (send: (command: string[]) => Promise<unknown>) => Promise<void>,
  ): ReturnType<typeof runMessaging> {
    const thief = await connectClient('node-redis', server.url, { name: 'thief' });
    try {
      const running = runMessaging([...words, '--redis', server.url]);
      await Promise.all([running, meddle((command) => thief.client.send(command))]);
      return await running;
    } finally {
      await thief.close();
    }
  }

  it('reports a known loss exactly', async () => {
    const wanted = 7;
    let stolen = 0;
    const { trials } = await whileRunning(
      [
        ...['--patterns', 'queue', '--mode', 'rate', '--rate', '2000', '--duration', '2'],
        ...['--rounds', '1', '--batch', '1', '--warm-up', '0.1'],
      ],
      async (send) => {
        // Competes with the consumer for messages; those of the warm-up are no loss of the measured load.
        await until('the thief has stolen enough', async () => {
          const reply = await send(['BRPOP', 'redis:queue', '0.05']);
          const message = Array.isArray(reply) ? String(reply[1]) : '';
          if (/^\S+ \w+p0 /.test(message.replace(/[:\n]/g, ' '))) stolen++;
          return stolen >= wanted;
        });
      },
    );
    expect(total(trials, 'lost')).toBe(stolen);
    expect(total(trials, 'delivered')).toBe(total(trials, 'acknowledged') - stolen);
    for (const { ledger } of trials) expect(ledgerImbalances(ledger)).toEqual([]);
  });

  it('shows a stall of known length in p99, from the intended send time', async () => {
    const stallMs = 400;
    const { trials } = await whileRunning(
      [
        ...['--patterns', 'stream-group', '--mode', 'rate', '--rate', '2000', '--duration', '5'],
        ...['--rounds', '1', '--warm-up', '0'],
      ],
      async (send) => {
        // Once per trial: both the baseline and its A/A copy. Without a warm-up all entries are measured ones.
        for (let trial = 0; trial < 2; trial++) {
          await until('the load runs', async () => Number(await send(['XLEN', 'redis:stream:group'])) > 2000);
          await send(['CLIENT', 'PAUSE', String(stallMs), 'ALL']);
          await until(
            'the trial is over',
            async () => Number(await send(['EXISTS', 'redis:stream:group'])) === 0,
          );
        }
      },
    );
    for (const { variant, histograms } of trials) {
      const p99 = histograms.latency && decodeHistogram(histograms.latency).percentile(0.99);
      // 8 % of the messages fall into the stall, so 1 % wait for at least 7/8 of it.
      expect((p99 ?? 0) / 1e6, variant).toBeGreaterThan(stallMs * 0.8);
    }
  });

  it('refuses a foreign key under its name and leaves it alone', async () => {
    const owner = await connectClient('node-redis', server.url, { name: 'owner' });
    try {
      await owner.client.send(['SET', 'redis:queue', 'mine']);
      const ended = await sandbox.run([
        ...[
          'run',
          'messaging',
          '--patterns',
          'queue',
          '--messages',
          '100',
          '--rounds',
          '1',
          '--redis',
          server.url,
        ],
      ]);
      expect(ended).toMatchObject({ code: 64, stdout: '' });
      expect(ended.stderr).toContain('redis:queue');
      expect(String(await owner.client.send(['GET', 'redis:queue']))).toBe('mine');
    } finally {
      await owner.close();
    }
  });
});
