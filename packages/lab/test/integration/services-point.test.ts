import { describe, expect, it, onTestFinished } from 'vitest';
import { connectClient } from '../../src/redis/clients.js';
import { startRedisServer } from '../../src/redis/redis-server.js';
import { ask, serve } from '../support/service-process.js';

describe.each(['per-request', 'pool', 'multiplexed'])('weir serve point --strategy %s', (strategy) => {
  it('saves hashes, looks them up, tells how it is, and ends in order', async () => {
    const server = await startRedisServer();
    onTestFinished(() => server.stop());
    const service = await serve(['point', '--redis', server.url, '--strategy', strategy, '--entries', '5']);
    expect((await ask('GET', `${service.url}/`)).text).toContain('weir point');
    expect((await ask('GET', `${service.url}/get?id=3`)).text).toBe('0');
    expect(await ask('GET', `${service.url}/save?id=3`)).toMatchObject({ status: 200, text: '3' });
    const point = (await ask('GET', `${service.url}/get?id=3`)).text;
    expect(Number(point)).toBeGreaterThan(0);

    const redis = await connectClient('node-redis', server.url, { name: 'test' });
    onTestFinished(() => redis.close());
    const hash = await redis.client.send(['HGETALL', 'weir:point:3']);
    expect(Array.isArray(hash) && hash.map(String)).toEqual([
      ...['id', '3', 'point', point],
      ...['refreshTime', expect.stringMatching(/^\d{13}$/)],
    ]);

    expect(Number((await ask('GET', `${service.url}/save`)).text)).toBeLessThanOrEqual(5);
    expect(await ask('GET', `${service.url}/get?id=x`)).toMatchObject({ status: 400 });
    expect((await ask('GET', `${service.url}/readyz`)).status).toBe(200);
    const metrics = (await ask('GET', `${service.url}/metrics`)).text;
    expect(metrics).toContain('weir_point_lookups_total{outcome="hit"} 1');
    expect(metrics).toContain('weir_point_lookups_total{outcome="miss"} 1');

    await redis.client.send(['SET', 'weir:point:4', 'not a hash']);
    expect((await ask('GET', `${service.url}/get?id=4`)).status).toBe(503);

    service.kill('SIGTERM');
    expect(await service.ended).toMatchObject({ code: 0 });
  });
});
