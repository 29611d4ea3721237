import type { Nanoseconds } from '../core/units.js';
import { monotonicNs } from '../measure/clock.js';
import { Pacer } from '../measure/pacer.js';
import { AnswerWindow } from './answer-window.js';
import { type HttpClient, httpClient } from './http-client.js';
import type { PointLoad, PointLoadReport, PointLoadSettings } from './point-api.js';

/** A backlog that takes longer than this many windows to work off is given up. */
const LONGEST_IN_WINDOWS = 2;

/**
 * Open load: requests leave by a schedule, whatever became of those before, and latency counts from the intended time.
 * Not by autocannon, whose rates are bursts at the start of each second. A request that finds all connections in use
 * waits for one, and that wait is part of its latency.
 *
 * Far beyond what the apps answer, the wait would have no end: after twice the window the requests that have not left
 * stay, and count as late, so that the load is known not to have been made.
 */
export async function openPointLoad(
  { urls, path, users }: PointLoadSettings,
  { forMs, perSecond }: PointLoad & { mode: 'open' },
  tell: (answered: number) => void,
): Promise<PointLoadReport> {
  const each = Math.max(1, Math.floor(users / urls.length));
  const clients = urls.map((url) => httpClient(url, each));
  const window = new AnswerWindow(forMs, tell);
  const over = AbortSignal.timeout(LONGEST_IN_WINDOWS * forMs);
  const due: Nanoseconds[] = [];
  let attempted = 0;

  const ask = async (client: HttpClient, intendedNs: Nanoseconds): Promise<void> => {
    const sentNs = monotonicNs();
    attempted++;
    try {
      const { status } = await client.request('GET', path);
      const now = monotonicNs();
      window.answered(status, now - intendedNs, now - sentNs);
    } catch {
      // Sent and not answered: the difference between what was sent and what was answered says so.
    }
  };
  const underWay = new Set<Promise<void>>();
  const askOn = async (client: HttpClient): Promise<void> => {
    while (!over.aborted) {
      const intendedNs = due[attempted];
      if (intendedNs === undefined) return;
      await ask(client, intendedNs);
    }
  };
  // Connections that found nothing due come back when something is.
  const idle = Array.from({ length: each }, () => clients).flat();
  const wake = (): void => {
    while (idle.length > 0 && attempted < due.length && !over.aborted) {
      const client = idle.shift();
      if (client === undefined) return;
      const asking = askOn(client).finally(() => {
        underWay.delete(asking);
        idle.push(client);
        wake();
      });
      underWay.add(asking);
    }
  };
  const pacer = new Pacer({ perSecond, count: Math.max(1, Math.round((perSecond * forMs) / 1000)) });
  window.begin();
  await pacer.run(
    (intended) => {
      for (const time of intended) due.push(time);
      wake();
    },
    { signal: over },
  );
  await Promise.all(underWay);
  for (const client of clients) client.close();
  const schedule = pacer.report();
  // Some of these left the pacer late as well: the larger of the two is sure, their sum is not.
  const late = Math.max(schedule.late, due.length - attempted);
  return {
    ...window.report(attempted),
    service: window.serviceTimes(),
    schedule: { ...schedule, late },
  };
}
