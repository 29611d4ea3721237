import { describe, expect, it } from 'vitest';
import { monotonicNs } from '../../../src/measure/clock.js';
import { ResourceMeter, sumResources } from '../../../src/measure/resources.js';

describe('ResourceMeter', () => {
  it('sees a busy window as about a core and a busy event loop', async () => {
    const meter = new ResourceMeter();
    meter.begin();
    const end = monotonicNs() + 200_000_000;
    while (monotonicNs() < end) {
      // busy on purpose
    }
    const { cpu, eventLoop, rssBytes, rssPeakBytes, storeShare } = meter.end(0.25);
    expect(cpu).toBeGreaterThan(0.05); // starved of its core by others, it may be far below 1
    expect(eventLoop).toBeGreaterThan(0.9);
    expect(rssBytes).toBeGreaterThan(10_000_000);
    expect(rssPeakBytes).toBeGreaterThanOrEqual(rssBytes);
    expect(storeShare).toBe(0.25);
  });

  it('cannot end what was not begun', () => {
    expect(() => new ResourceMeter().end()).toThrow('not begun');
  });
});

describe('sumResources', () => {
  it('adds CPU and memory and takes the busiest event loop', () => {
    const one = { cpu: 0.5, eventLoop: 0.4, rssBytes: 10, rssPeakBytes: 20 };
    const other = { cpu: 1, eventLoop: 0.9, rssBytes: 1, rssPeakBytes: 2, storeShare: 0.3 };
    expect(sumResources([one, other])).toEqual({
      cpu: 1.5,
      eventLoop: 0.9,
      rssBytes: 11,
      rssPeakBytes: 22,
      storeShare: 0.3,
    });
    expect(sumResources([])).toEqual({ cpu: 0, eventLoop: null, rssBytes: 0, rssPeakBytes: 0 });
  });
});
