import { createServer, type Server } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { openPointLoad } from '../../src/workers/point-load-open.js';

let server: Server | undefined;
afterEach(() => server?.close());

/** An app that takes this long for each answer, however many it is asked for. */
async function appTaking(milliseconds: number): Promise<string> {
  const app = createServer((_request, response) => {
    setTimeout(() => response.end('1'), milliseconds);
  });
  server = app;
  await new Promise<void>((listening) => app.listen(0, '127.0.0.1', listening));
  const address = app.address();
  if (address === null || typeof address === 'string') throw new Error('it does not listen');
  return `http://127.0.0.1:${address.port}`;
}

it('asks for all that is due, and each is answered', async () => {
  const urls = [await appTaking(0)];
  const load = { mode: 'open', forMs: 200, perSecond: 100 } as const;
  const report = await openPointLoad({ urls, path: '/get', users: 4 }, load, () => undefined);
  expect(report).toMatchObject({ attempted: 20, succeeded: 20, refused: 0, statuses: { 200: 20 } });
  expect(report.schedule?.sends).toBe(20);
});

it('ends where the app can never keep up: what has not left by then was not made, and what left was answered', async () => {
  const urls = [await appTaking(20)];
  const load = { mode: 'open', forMs: 200, perSecond: 5_000 } as const;
  const report = await openPointLoad({ urls, path: '/get', users: 2 }, load, () => undefined);
  // Two connections of 20 ms carry some 40 requests in twice the window; on a busy machine a timer is late, not early.
  expect(report.attempted).toBeLessThan(500);
  expect(report.attempted).toBeGreaterThan(0);
  expect(report.succeeded).toBe(report.attempted);
  expect(report.schedule?.sends).toBe(1_000);
  expect(report.schedule?.late).toBeGreaterThanOrEqual(1_000 - report.attempted);
});
