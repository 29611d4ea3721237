import { monotonicNs } from '../measure/clock.js';
import { Pacer } from '../measure/pacer.js';
import { AnswerWindow } from './answer-window.js';
import { httpClient } from './http-client.js';
import type { PointLoad, PointLoadReport, PointLoadSettings } from './point-api.js';

/**
 * Open load: requests leave by a schedule, whatever became of those before, and latency counts from the intended time.
 * Not by autocannon, whose rates are bursts at the start of each second. A request that finds all connections in use
 * waits for one, and that wait is part of its latency.
 */
export async function openPointLoad(
  { urls, path, users }: PointLoadSettings,
  { forMs, perSecond }: PointLoad & { mode: 'open' },
  tell: (answered: number) => void,
): Promise<PointLoadReport> {
  const each = Math.max(1, Math.floor(users / urls.length));
  const clients = urls.map((url) => httpClient(url, each));
  const window = new AnswerWindow(forMs, tell);
  const underWay = new Set<Promise<void>>();
  let attempted = 0;
  const ask = async (intendedNs: number): Promise<void> => {
    const client = clients[attempted++ % clients.length];
    if (client === undefined) throw new Error('there is no service to ask');
    const sentNs = monotonicNs();
    try {
      const { status } = await client.request('GET', path);
      const now = monotonicNs();
      window.answered(status, now - intendedNs, now - sentNs);
    } catch {
      // Sent and not answered: the difference between what was sent and what was answered says so.
    }
  };
  const pacer = new Pacer({ perSecond, count: Math.max(1, Math.round((perSecond * forMs) / 1000)) });
  window.begin();
  await pacer.run(
    (intended) => {
      for (const time of intended) {
        const asking = ask(time);
        underWay.add(asking);
        void asking.finally(() => underWay.delete(asking));
      }
    },
    { signal: new AbortController().signal },
  );
  await Promise.all(underWay);
  for (const client of clients) client.close();
  return { ...window.report(attempted), service: window.serviceTimes(), schedule: pacer.report() };
}
