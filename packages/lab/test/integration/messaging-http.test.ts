import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { Result } from '../../src/measure/result.js';
import { type RedisServer, startRedisServer } from '../../src/redis/redis-server.js';
import { serve } from '../support/service-process.js';
import { makeSandbox, type Sandbox } from '../support/weir-process.js';

/** The messaging experiment through the services, and beside the published method. */

let redis: RedisServer;
let sandbox: Sandbox;
beforeAll(async () => {
  redis = await startRedisServer();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  sandbox = await makeSandbox();
});
afterEach(() => sandbox.remove());

const SHORT = ['--messages', '300', '--rounds', '1', '--seed', '5', '--format', 'json', '--results', 'none'];

async function run(words: readonly string[]): Promise<Result> {
  const { code, stdout, stderr } = await sandbox.run(['run', 'messaging', ...SHORT, ...words]);
  expect(code, stderr).toBe(0);
  return Result.parse(JSON.parse(stdout));
}

function expectNothingLost({ trials }: Result): void {
  expect(trials.length).toBeGreaterThan(0);
  for (const trial of trials) {
    if (trial.state !== 'measured')
      throw new Error(`${trial.variant} is ${trial.state}: ${JSON.stringify(trial)}`);
    expect(trial.ledger).toMatchObject({
      attempted: 300,
      acknowledged: 300,
      delivered: 300,
      lost: 0,
      duplicated: 0,
    });
  }
}

it('runs through services of its own, accounts for every message and tells the share of HTTP', async () => {
  const result = await run(['--via', 'http', '--store', 'sqlite', '--warm-up', '0.3']);
  expectNothingLost(result);
  expect(result.plan.workload).toMatchObject({ via: 'http', connections: 50, bulk: 1 });
  for (const { metrics } of result.summary.variants) {
    expect(metrics.httpShare?.median).toBeGreaterThan(0);
    expect(metrics.httpShare?.median).toBeLessThan(100);
  }
  expect(result.summary.findings.join('\n')).toMatch(/HTTP takes .* % .* of the time of a send/);
  expect(await sandbox.leftovers()).toEqual([]);
});

it('sends many messages in a request with --bulk', async () => {
  const words = ['--patterns', 'stream-group', '--via', 'http', '--bulk', '20', '--producers', '2'];
  expectNothingLost(await run([...words, '--warm-up', '0.3']));
});

it('drives services of the user on the Redis they share', async () => {
  const [producer, second, consumer] = await Promise.all([
    serve(['producer', '--redis', redis.url]),
    serve(['producer', '--redis', redis.url]),
    serve(['consumer', '--redis', redis.url, '--store', 'none']),
  ]);
  const services = ['--producer', `${producer.url},${second.url}`, '--consumer', consumer.url];
  const result = await run([
    ...['--patterns', 'queue,stream-group', '--via', 'http', '--redis', redis.url, '--warm-up', '0.3'],
    ...services,
  ]);
  expectNothingLost(result);
});

it.each([
  [['--via', 'carrier-pigeon'], /--via/],
  [['--connections', '5'], /--connections/],
  [['--via', 'http', '--mode', 'backlog'], /--mode/],
  [['--via', 'http', '--payload', '20'], /--payload/],
  [['--via', 'http', '--producer', 'http://127.0.0.1:1'], /--consumer/],
  [['--via', 'http', '--producer', 'ftp://x', '--consumer', 'http://x'], /--producer/],
  [['--via', 'http', '--producer', 'http://x', '--consumer', 'http://x', '--store', 'sqlite'], /--store/],
])('refuses %j', async (words, option) => {
  const { code, stdout, stderr } = await sandbox.run(['run', 'messaging', ...SHORT, ...words]);
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  expect(stderr).toMatch(option);
});

it('replays the published method beside the result, with the sentences that change', async () => {
  const result = await run(['--patterns', 'queue,stream-group', '--as-published', '--warm-up', '0.3']);
  const replay = result.summary.asPublished;
  expect(replay?.rows).toEqual([
    { variant: 'queue', published: 97, replayed: expect.any(Number), measured: expect.any(Number) },
    { variant: 'stream-group', published: 182, replayed: expect.any(Number), measured: expect.any(Number) },
  ]);
  for (const row of replay?.rows ?? []) expect(row.replayed).toBeGreaterThan(0);
  expect(replay?.sentences[0]).toMatch(
    /^As published, stream-group is .* queue.*\. Here (instead|as well): /,
  );
  expect(await sandbox.leftovers()).toEqual([]);
});
