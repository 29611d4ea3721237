import { Agent, request } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type RedisServer, startRedisServer } from '../../src/redis/redis-server.js';
import {
  type RunningService,
  startConsumerService,
  startProducerService,
} from '../../src/services/start-service.js';
import { eventually } from '../support/condition.js';
import { ask } from '../support/service-process.js';

/** What the services answer to wrong requests, and that they keep their secrets. */

const PASSWORD = 'redis-secret';
const open: RunningService[] = [];
let redis: RedisServer;
let log: string[] = [];

beforeAll(async () => {
  redis = await startRedisServer({ config: { requirepass: PASSWORD } });
});
afterAll(() => redis.stop());
afterEach(async () => {
  for (const service of open.splice(0)) await service.close(5_000);
  expect(log.join('')).not.toContain(PASSWORD);
  log = [];
});

const common = () => ({
  host: '127.0.0.1',
  port: 0,
  redisUrl: redis.url,
  client: 'node-redis' as const,
  keyPrefix: 'requests:',
  token: undefined,
  bodyLimitBytes: 1024 * 1024,
  requestsPerSecond: undefined,
  log: { level: 'info', stream: { write: (line: string) => void log.push(line) } },
});

async function producer(options: Partial<Parameters<typeof startProducerService>[0]> = {}): Promise<string> {
  const service = await startProducerService({ ...common(), ...options });
  open.push(service);
  return service.url;
}

async function consumer(): Promise<string> {
  const service = await startConsumerService({
    ...common(),
    store: 'none',
    consumerName: 'consumer-1',
    drainDeadlineMs: 10_000,
    offset: 'memory',
    shutdownDeadlineMs: 5_000,
  });
  open.push(service);
  return service.url;
}

describe('the producer refuses', () => {
  it('an unknown pattern, with the list', async () => {
    const answer = await ask('POST', `${await producer()}/nope/send`, 'x');
    expect(answer.status).toBe(404);
    expect(answer.json()).toMatchObject({
      error: 'UNKNOWN_PATTERN',
      patterns: expect.arrayContaining(['queue']),
    });
  });

  it('a body over the limit, and takes one at the limit', async () => {
    const url = await producer();
    expect((await ask('POST', `${url}/queue/send`, Buffer.alloc(1024 * 1024 + 1))).status).toBe(413);
    expect((await ask('POST', `${url}/queue/send`, Buffer.alloc(1024 * 1024))).status).toBe(200);
    const small = await producer({ bodyLimitBytes: 10 });
    expect((await ask('POST', `${small}/queue/send`, '12345678901')).status).toBe(413);
  });

  it.each([
    ['NDJSON', 'application/x-ndjson', '"a"\n{"b": 1}\nnot json\n', 2],
    ['an array', 'application/json', '["a", {"b": [1, 2]}, "c,d]", nope, 5]', 3],
    ['an array that is cut off', 'application/json', '["a", "b', 1],
  ])('bad JSON in %s, naming the item, and sends none of it', async (_, type, body, item) => {
    const url = await producer();
    const answer = await ask('POST', `${url}/stream-group/send/batch`, body, type);
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({
      error: 'BAD_JSON',
      item,
      message: expect.stringContaining(`item ${item} `),
    });
    expect((await ask('GET', `${url}/metrics`)).text).toContain(
      '{pattern="stream-group",outcome="acknowledged"} 0',
    );
  });

  it.each(['[]', '', '{"a": 1', '\xff'])('a batch of %j', async (body) => {
    const answer = await ask(
      'POST',
      `${await producer()}/queue/send/batch`,
      Buffer.from(body, 'latin1'),
      'application/json',
    );
    expect(answer.status).toBe(400);
  });

  it('more requests than the limit, with the time to wait', async () => {
    const url = await producer({ requestsPerSecond: 5 });
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => ask('POST', `${url}/queue/send`, 'x')),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.headers.get('retry-after')).toMatch(/^\d+$/);
  });

  it('requests without its token, except for the probes and the documentation', async () => {
    const token = 'a-long-token';
    const url = await producer({ token });
    const send = async (authorization?: string): Promise<number> =>
      (await fetch(`${url}/queue/send`, { method: 'POST', headers: authorization ? { authorization } : {} }))
        .status;
    expect(await send()).toBe(401);
    expect(await send('Bearer wrong')).toBe(401);
    expect(await send(`Bearer ${token}x`)).toBe(401);
    expect(await send(`Bearer ${token}`)).toBe(200);
    expect((await ask('GET', `${url}/metrics`)).status).toBe(401);
    for (const path of ['/healthz', '/readyz', '/openapi.json', '/docs']) {
      expect((await ask('GET', url + path)).status, path).toBe(200);
    }
    expect(log.join('')).not.toContain(token);
  });

  it('to be reached from elsewhere without a token', async () => {
    for (const host of ['0.0.0.0', '::', '192.0.2.1']) {
      await expect(producer({ host })).rejects.toMatchObject({ code: 'USAGE', exitCode: 64 });
    }
    await expect(producer({ token: 'with blanks' })).rejects.toMatchObject({ code: 'USAGE' });
  });
});

describe('the producer takes', () => {
  it('a batch as JSON array and as NDJSON', async () => {
    const url = await producer();
    for (const [type, body] of [
      ['application/json', '["a", {"b": 1}, "ü"]'],
      ['application/x-ndjson', '"a"\n\n{"b": 1}\n"ü"'],
    ] as const) {
      const answer = await ask('POST', `${url}/queue/send/batch`, body, type);
      expect(answer.json()).toEqual({ acknowledged: 3, failed: [] });
    }
  });

  it('whatever content type a client of the original sends', async () => {
    const url = await producer();
    for (const type of [
      'application/json',
      'application/x-www-form-urlencoded',
      'text/plain; charset=utf-8',
    ]) {
      expect(await ask('POST', `${url}/queue/send`, '{not json', type)).toMatchObject({
        status: 200,
        text: 'ok',
      });
    }
    // No content type at all, as `curl -X POST`.
    const status = await new Promise((resolve, reject) => {
      request(`${url}/queue/send`, { method: 'POST' }, (answer) => resolve(answer.resume().statusCode))
        .on('error', reject)
        .end();
    });
    expect(status).toBe(200);
  });
});

describe('the consumer refuses', () => {
  it('to start twice, to stop what does not run, and unknown patterns', async () => {
    const url = await consumer();
    expect((await ask('POST', `${url}/queue/stop`)).status).toBe(409);
    expect((await ask('POST', `${url}/queue/start`, '', 'application/json')).status).toBe(200);
    const again = await ask('POST', `${url}/queue/start`);
    expect(again.status).toBe(409);
    expect(again.json()).toMatchObject({ error: 'ALREADY_STARTED' });
    expect((await ask('POST', `${url}/queue/stop`)).status).toBe(200);
    expect((await ask('POST', `${url}/queue/stop`)).status).toBe(409);
    for (const path of ['start', 'stop']) expect((await ask('POST', `${url}/nope/${path}`)).status).toBe(404);
    for (const path of ['stats', 'results'])
      expect((await ask('GET', `${url}/nope/${path}`)).status).toBe(404);
  });

  it.each(['batch=0', 'batch=1001', 'batch=x', 'from=yesterday'])('to start with %s', async (query) => {
    const answer = await ask('POST', `${await consumer()}/queue/start?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ message: expect.stringContaining(query.split('=')[0] ?? '') });
  });
});

it('answers 503 with Retry-After while Redis is away, accepts nothing, and recovers', async () => {
  const [sending, handling] = [await producer(), await consumer()];
  await redis.kill();
  try {
    for (const [method, url] of [
      ['POST', `${sending}/queue/send`],
      ['POST', `${sending}/queue/send/batch`],
      ['POST', `${handling}/queue/start`],
      ['GET', `${sending}/readyz`],
      ['GET', `${handling}/readyz`],
    ] as const) {
      const answer = await ask(method, url, method === 'POST' ? '["x"]' : undefined);
      expect(answer.status, url).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(answer.text).not.toMatch(/\bat .*\.(js|ts):\d+|stack/);
      expect(answer.text).not.toContain(PASSWORD);
    }
    expect((await ask('GET', `${sending}/healthz`)).status).toBe(200);
    expect((await ask('GET', `${handling}/queue/stats`)).json()).toMatchObject({ running: false, lag: null });
  } finally {
    await redis.restart();
  }
  await eventually('ready again', async () => (await ask('GET', `${sending}/readyz`)).status === 200);
  expect((await ask('POST', `${sending}/queue/send`)).status).toBe(200);
});

it('describes every route, and offers metrics of every pattern', async () => {
  const [sending, handling] = [await producer(), await consumer()];
  const paths = async (url: string): Promise<string[]> =>
    Object.keys((await ask('GET', `${url}/openapi.json`)).json().paths ?? {}).sort();
  const operations = ['/healthz', '/metrics', '/readyz'];
  expect(await paths(sending)).toEqual([...operations, '/{pattern}/send', '/{pattern}/send/batch']);
  expect(await paths(handling)).toEqual(
    [...operations, ...['results', 'start', 'stats', 'stop'].map((name) => `/{pattern}/${name}`)].sort(),
  );
  const page = await ask('GET', `${sending}/docs`);
  expect(page.text).not.toMatch(/(src|href)="https?:/);
  await ask('POST', `${handling}/stream-group/start`);
  const metrics = (await ask('GET', `${handling}/metrics`)).text;
  expect(metrics).toContain('weir_consumer_running{pattern="stream-group"} 1');
  expect(metrics).toContain('weir_consumer_lag{pattern="queue"}');
  expect(metrics).toContain('http_request_duration_seconds_count');
  expect(metrics).toContain('process_cpu_seconds_total');
});

it('ends in time although a client keeps its connection after the last answer', async () => {
  const service = await startProducerService(common());
  const agent = new Agent({ keepAlive: true });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    request(`${service.url}/queue/send`, { method: 'POST', agent }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode));
    })
      .once('error', reject)
      .end('x');
  });
  // Redis holds the request back until the end of the service has begun.
  process.kill(redis.pid, 'SIGSTOP');
  try {
    await eventually('the request is under way', async () =>
      / 1$/m.test(
        /^weir_producer_in_flight\{pattern="queue"\}.*$/m.exec(
          (await ask('GET', `${service.url}/metrics`)).text,
        )?.[0] ?? '',
      ),
    );
    const closed = service.close(4_000);
    process.kill(redis.pid, 'SIGCONT');
    expect(await answered).toBe(200);
    expect(await closed).toBe(true);
  } finally {
    process.kill(redis.pid, 'SIGCONT');
    agent.destroy();
  }
});
