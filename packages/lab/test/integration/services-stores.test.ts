import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTcpProxy } from '../../src/faults/tcp-proxy.js';
import { Result } from '../../src/measure/result.js';
import { type RedisServer, startRedisServer } from '../../src/redis/redis-server.js';
import { DATABASE_PASSWORD } from '../../src/stores/servers/database-server.js';
import { eventually } from '../support/condition.js';
import { ask, serve } from '../support/service-process.js';
import { mariadb, postgresql, type StoreFixture, storeFixtures } from '../support/store-fixtures.js';
import { makeSandbox } from '../support/weir-process.js';

/** The services as processes of their own, over every store: what is answered `ok` is a row. */

const PATTERNS = ['queue', 'stream-xread', 'stream-group', 'pubsub'];
const STORES = ['sqlite', 'mysql', 'postgres'];

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedisServer();
});
afterAll(() => redis.stop());

async function fixtureOf(name: string): Promise<StoreFixture> {
  const make = storeFixtures[name];
  if (make === undefined) throw new Error(`there is no fixture for ${name}`);
  return make();
}

const sorted = (bodies: Iterable<Buffer>): string[] => [...bodies].map((body) => body.toString('hex')).sort();

describe.each(STORES)('services with %s', (name) => {
  it('start, three sends, stop: three rows with the bodies that were sent, for every pattern', async () => {
    const fixture = await fixtureOf(name);
    const producer = await serve(['producer', '--redis', redis.url]);
    const consumer = await serve(['consumer', '--redis', redis.url, '--store', fixture.address]);
    const binary = Buffer.from([0xff, 0x00, 0x0a, 0xc3]);
    const sent: Buffer[] = [];
    for (const pattern of PATTERNS) {
      const at = `${producer.url}/${pattern}/send`;
      expect(await ask('POST', `${consumer.url}/${pattern}/start`)).toMatchObject({ status: 200 });
      expect(await ask('POST', at)).toMatchObject({ status: 200, text: 'ok' });
      expect(await ask('POST', at, `text ${pattern}`, 'text/plain')).toMatchObject({
        status: 200,
        text: 'ok',
      });
      expect(await ask('POST', at, binary, 'application/octet-stream')).toMatchObject({
        status: 200,
        text: 'ok',
      });
      sent.push(Buffer.from('benchmark-message'), Buffer.from(`text ${pattern}`), binary);

      const stopped = (await ask('POST', `${consumer.url}/${pattern}/stop`)).json();
      expect(stopped).toMatchObject({
        pattern: pattern.toUpperCase().replace('-', '_'),
        running: false,
        totalMessages: 3,
        durationMs: expect.any(Number),
        throughput: expect.stringMatching(/^\d+\.\d\d msg\/sec$/),
        stored: 3,
        duplicates: 0,
        drained: true,
      });
      // The original's members come first and in its order.
      expect(Object.keys(stopped).slice(0, 5)).toEqual([
        'pattern',
        'running',
        'totalMessages',
        'durationMs',
        'throughput',
      ]);
      const results = await ask('GET', `${consumer.url}/${pattern}/results`);
      expect(JSON.parse(results.text)).toEqual([{ ...stopped, finishedAt: expect.any(String) }]);
    }
    expect(sorted((await fixture.bodies()).values())).toEqual(sorted(sent));
    expect(producer.output() + consumer.output()).not.toContain(DATABASE_PASSWORD);
    await fixture.remove();
  });
});

describe.each([
  { name: 'mysql', server: mariadb.server },
  { name: 'postgres', server: postgresql.server },
])('a consumer on $name', ({ name, server }) => {
  it('killed between save and acknowledgement: nothing is lost and nothing stored twice', async () => {
    const fixture = await fixtureOf(name);
    const proxy = await startTcpProxy({ target: fixture.address, protocol: 'opaque' });
    const behind = ['consumer', '--redis', redis.url, '--key-prefix', `${name}:`, '--store'];
    const producer = await serve(['producer', '--redis', redis.url, '--key-prefix', `${name}:`]);
    const first = await serve([...behind, proxy.url]);
    try {
      expect(await ask('POST', `${first.url}/stream-group/start`)).toMatchObject({ status: 200 });
      // Handled in order, so that the statement is prepared and its connection open.
      await ask('POST', `${producer.url}/stream-group/send`, 'first');
      const stats = async () => (await ask('GET', `${first.url}/stream-group/stats`)).json();
      await eventually('the first is acknowledged', async () => {
        const { stored, pending: left } = await stats();
        return stored === 1 && left === 0;
      });
      // The database commits, and its answer does not arrive: saved, not acknowledged.
      proxy.set({ toClient: { latencyMs: 600_000 } });
      const sent = Array.from({ length: 20 }, (_, index) => `message ${index}`);
      for (const body of sent) await ask('POST', `${producer.url}/stream-group/send`, body);
      await eventually('a row', async () => (await fixture.bodies()).size > 1, 30_000);
      first.kill('SIGKILL');
      await first.ended;
      const savedOnly = (await fixture.bodies()).size - 1;

      const second = await serve([...behind, fixture.address]);
      await ask('POST', `${second.url}/stream-group/start`);
      const result = (await ask('POST', `${second.url}/stream-group/stop`)).json();
      expect(result).toMatchObject({ totalMessages: sent.length, duplicates: savedOnly, drained: true });
      expect(sorted((await fixture.bodies()).values())).toEqual(
        sorted(['first', ...sent].map((body) => Buffer.from(body))),
      );
      expect((await ask('GET', `${second.url}/stream-group/stats`)).json()).toMatchObject({
        lag: 0,
        pending: 0,
      });
    } finally {
      await proxy.close();
    }
  });

  it('waits for a database that is away: not ready, then everything is stored once', async () => {
    const fixture = await fixtureOf(name);
    const database = await server();
    const producer = await serve(['producer', '--redis', redis.url, '--key-prefix', `${name}-away:`]);
    const consumer = await serve([
      ...['consumer', '--redis', redis.url, '--key-prefix', `${name}-away:`],
      ...['--store', fixture.address],
    ]);
    await ask('POST', `${consumer.url}/queue/start`);
    await ask('POST', `${producer.url}/queue/send`, 'before');
    await eventually('a row', async () => (await fixture.bodies()).size === 1);
    await database.kill();
    try {
      for (let index = 0; index < 10; index++)
        await ask('POST', `${producer.url}/queue/send`, `during ${index}`);
      const ready = await ask('GET', `${consumer.url}/readyz`);
      expect(ready.status).toBe(503);
      expect(ready.headers.get('retry-after')).toBe('1');
      expect(await ask('POST', `${consumer.url}/pubsub/start`)).toMatchObject({ status: 503 });
    } finally {
      await database.restart();
    }
    const result = (await ask('POST', `${consumer.url}/queue/stop`)).json();
    expect(result).toMatchObject({
      totalMessages: 11,
      stored: 11,
      deadLettered: 0,
      dropped: 0,
      drained: true,
    });
    expect((await fixture.bodies()).size).toBe(11);
    expect(consumer.output()).not.toContain(DATABASE_PASSWORD);
  });
});

it.each(['mysql', 'postgres'])(
  'weir run messaging writes to %s, and its password is nowhere',
  async (name) => {
    const fixture = await fixtureOf(name);
    const sandbox = await makeSandbox();
    const words = ['--patterns', 'stream-group', '--messages', '200', '--rounds', '1', '--warm-up', '0.3'];
    try {
      const { code, stdout, stderr } = await sandbox.run([
        ...['run', 'messaging', ...words, '--store', fixture.address, '--results', fixture.address],
        ...['--format', 'json'],
      ]);
      expect(code, stderr).toBe(0);
      const { trials, plan } = Result.parse(JSON.parse(stdout));
      expect(trials.map(({ state }) => state)).toEqual(['measured', 'measured']);
      expect(plan.workload.store).toMatch(/^(mysql|postgres):\/\/127\.0\.0\.1:\d+\/weir_\d+$/);
      expect((await fixture.bodies()).size).toBeGreaterThanOrEqual(2 * 200);
      const report = await sandbox.run(['report', 'latest', '--results', fixture.address]);
      expect(report).toMatchObject({ code: 0, stdout: expect.stringContaining('stream-group') });
      expect(stdout + stderr + report.stdout + report.stderr).not.toContain(DATABASE_PASSWORD);
    } finally {
      await sandbox.remove();
    }
  },
);

it.each(['mysql', 'postgres'])(
  'weir run messaging refuses a %s that is away before anything is started',
  async (scheme) => {
    const sandbox = await makeSandbox();
    try {
      const address = `${scheme}://weir:${DATABASE_PASSWORD}@127.0.0.1:1/weir`;
      for (const option of ['--store', '--results']) {
        const { code, stdout, stderr } = await sandbox.run(['run', 'messaging', '--quick', option, address]);
        expect({ code, stdout }, stderr).toEqual({ code: 69, stdout: '' });
        expect(stderr).toContain('127.0.0.1:1');
        expect(stderr).not.toContain(DATABASE_PASSWORD);
      }
    } finally {
      await sandbox.remove();
    }
  },
);
