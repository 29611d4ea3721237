import { describe, expect, it } from 'vitest';
import { decodeHistogram, LatencyHistogram } from '../../../src/measure/histogram.js';
import { Pacer } from '../../../src/measure/pacer.js';

const MS = 1_000_000;

/** A clock that moves only when told, and whose waits take no real time. */
class TestClock {
  ns = 5_000 * MS;
  readonly now = (): number => this.ns;
  /** A turn of the event loop takes 50 µs; a timer as long as it says. */
  readonly wait = async (milliseconds: number): Promise<void> => {
    this.ns += milliseconds > 0 ? milliseconds * MS : 50_000;
  };
}

describe('the schedule', () => {
  it('is start + i / rate, exactly', () => {
    const clock = new TestClock();
    const pacer = new Pacer({ perSecond: 1000, count: 5, now: clock.now });
    const start = clock.ns;
    const sent: number[] = [];
    for (let tick = 0; tick <= 10; tick++) sent.push(...pacer.dueBy(start + tick * 0.5 * MS));
    expect(sent).toEqual([0, 1, 2, 3, 4].map((i) => start + i * MS));
    expect(pacer.dueBy(start + 1000 * MS)).toEqual([]);
  });

  it('does not drift when the interval is no whole number of nanoseconds', () => {
    const clock = new TestClock();
    const pacer = new Pacer({ perSecond: 30_000, count: 300_001, now: clock.now });
    let last = 0;
    for (let tick = 0; tick <= 100_000; tick++) last = pacer.dueBy(clock.ns + tick * 0.1 * MS).at(-1) ?? last;
    expect(last).toBe(clock.ns + 10_000 * MS);
  });

  it('is kept by the loop, and the report says so', async () => {
    const clock = new TestClock();
    const pacer = new Pacer({ perSecond: 200, count: 400, now: clock.now, wait: clock.wait });
    const start = clock.ns;
    const sent: number[] = [];
    await pacer.run((intended) => sent.push(...intended), { signal: new AbortController().signal });
    expect(sent).toEqual(Array.from({ length: 400 }, (_, i) => start + i * 5 * MS));
    expect(pacer.report()).toMatchObject({ sends: 400, late: 0, allowanceNs: MS });
    expect(pacer.report().worstNs).toBeLessThan(MS);
  });

  it('is kept on the real clock', async () => {
    const pacer = new Pacer({ perSecond: 2000, count: 200 });
    let sent = 0;
    await pacer.run((intended) => (sent += intended.length), { signal: new AbortController().signal });
    expect(sent).toBe(200);
    expect(pacer.report().sends).toBe(200);
  });

  it('allows 10 % of a long interval', () => {
    expect(new Pacer({ perSecond: 10, count: 1 }).report().allowanceNs).toBe(10 * MS);
    expect(new Pacer({ perSecond: 50_000, count: 1 }).report().allowanceNs).toBe(MS);
  });

  it('ends when aborted, and what was due by then and not sent is late', async () => {
    const clock = new TestClock();
    const pacer = new Pacer({ perSecond: 1000, count: 10_000, now: clock.now, wait: clock.wait });
    const controller = new AbortController();
    let sent = 0;
    await pacer.run(
      (intended) => {
        sent += intended.length;
        if (sent < 100) return;
        clock.ns += 50 * MS;
        controller.abort();
      },
      { signal: controller.signal },
    );
    clock.ns += 60_000 * MS;
    expect(sent).toBe(100);
    expect(pacer.report()).toMatchObject({ sends: 150, late: 50 });
  });
});

describe('a stall of the generator of 100 ms', () => {
  const start = 5_000 * MS;
  const run = () => {
    const pacer = new Pacer({ perSecond: 10_000, count: 10_000, now: () => start });
    const sends: { intended: number; at: number }[] = [];
    for (let at = start; at <= start + 1000 * MS; at += at === start + 300 * MS ? 100 * MS : MS) {
      for (const intended of pacer.dueBy(at)) sends.push({ intended, at });
    }
    return { pacer, sends };
  };

  it('leaves the intended times as they were and loses no send', () => {
    expect(run().sends.map(({ intended }) => intended)).toEqual(
      Array.from({ length: 10_000 }, (_, i) => start + i * 100_000),
    );
  });

  it('is caught up without a burst: never more than twice the rate after the first slice', () => {
    const perTick = new Map<number, number>();
    for (const { at } of run().sends) perTick.set(at, (perTick.get(at) ?? 0) + 1);
    const after = [...perTick].filter(([at]) => at >= start + 400 * MS).map(([, count]) => count);
    expect(after[0]).toBe(200); // 10 ms at twice the rate, not the 1000 that are due
    expect(Math.max(...after.slice(1))).toBe(20);
    expect(after.at(-2)).toBe(10); // and back to the rate (the last tick finds only 9 left)
  });

  it('is reported: how many were late, and the worst', () => {
    const report = run().pacer.report(start + 1000 * MS);
    expect(report.sends).toBe(10_000);
    // due in the stall: 1000. Made up at 20 a ms while 10 a ms fall due: another 800 or so are late meanwhile
    expect(report.late).toBeGreaterThan(1700);
    expect(report.late).toBeLessThan(1900);
    expect(report.worstNs).toBe(100 * MS - 100_000);
  });
});

it('a stall of the system of 100 ms shows in p99 from the intended time, and not in the service time', () => {
  const start = 5_000 * MS;
  const pacer = new Pacer({ perSecond: 1000, count: 10_000, now: () => start });
  const fromIntended = new LatencyHistogram();
  const serviceTime = new LatencyHistogram();
  let now = start;
  let calls = 0;
  // A client that waits for each reply, 50 µs; the 5000th reply takes 100 ms.
  while (calls < 10_000) {
    const due = pacer.dueBy(now);
    for (const intended of due) {
      const sentAt = now;
      now += calls++ === 5000 ? 100 * MS : 50_000;
      fromIntended.record(now - intended);
      serviceTime.record(now - sentAt);
    }
    if (due.length === 0) now += 100_000;
  }
  const p99 = decodeHistogram(fromIntended.encode()).percentile(0.99) ?? 0;
  expect(p99).toBeGreaterThan(40 * MS);
  expect(p99).toBeLessThan(100 * MS);
  expect(decodeHistogram(serviceTime.encode()).percentile(0.99)).toBeLessThan(0.1 * MS);
});
