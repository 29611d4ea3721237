import { describe, expect, it } from 'vitest';
import { type LimitEvidence, limitedBy } from '../../../src/measure/limited-by.js';
import type { Resources } from '../../../src/measure/result.js';

const idle: Resources = { cpu: 0.2, eventLoop: 0.3, rssBytes: 1, rssPeakBytes: 1 };
const busy: Resources = { ...idle, cpu: 0.5, eventLoop: 0.99 }; // runnable, and starved of its core

function evidence(changes: Partial<LimitEvidence>): LimitEvidence {
  return {
    resources: { producer: idle, consumer: idle },
    redis: { cpu: 0.3, mainThreadCpu: 0.25 },
    cpuCount: 8,
    paced: false,
    processes: { producer: 1, consumer: 1 },
    ...changes,
  };
}

describe('limitedBy', () => {
  it('names the web app, paced or not, unless Redis behind it is saturated', () => {
    const resources = { producer: busy, app: busy };
    expect(limitedBy(evidence({ resources }))).toBe('app');
    expect(limitedBy(evidence({ resources, paced: true }))).toBe('app');
    expect(limitedBy(evidence({ resources, redis: { cpu: 1, mainThreadCpu: 0.97 } }))).toBe('redis');
  });

  it('looks downstream first: who is saturated behind makes those in front wait', () => {
    const both = { producer: busy, consumer: busy };
    expect(limitedBy(evidence({ resources: both }))).toBe('consumer');
    expect(limitedBy(evidence({ resources: { ...both, consumer: { ...busy, storeShare: 0.6 } } }))).toBe(
      'store',
    );
    const saturatedRedis = { cpu: 1, mainThreadCpu: 0.97 };
    expect(
      limitedBy(evidence({ resources: { producer: busy, consumer: idle }, redis: saturatedRedis })),
    ).toBe('redis');
    expect(limitedBy(evidence({ resources: { producer: busy, consumer: idle } }))).toBe('producer');
  });

  it('takes CPU per process where a role has several', () => {
    const four = { ...idle, cpu: 1.2 };
    const resources = { producer: four, consumer: { ...idle, cpu: 0.4 } };
    expect(limitedBy(evidence({ resources, processes: { producer: 4, consumer: 1 } }))).toBe('consumer');
    expect(limitedBy(evidence({ resources, processes: { producer: 1, consumer: 1 } }))).toBe('producer');
  });

  it('says none of a paced load that nothing held up, however busy the pacer is', () => {
    expect(limitedBy(evidence({ paced: true, resources: { producer: busy, consumer: idle } }))).toBe('none');
    expect(limitedBy(evidence({ paced: true, resources: { producer: busy, consumer: busy } }))).toBe(
      'consumer',
    );
  });

  it('names the machine when all cores were used and nobody was saturated, else the busiest part', () => {
    expect(limitedBy(evidence({ cpuCount: 1, redis: { cpu: 0.6, mainThreadCpu: 0.6 } }))).toBe('machine');
    expect(limitedBy(evidence({ redis: { cpu: 0.6, mainThreadCpu: 0.6 } }))).toBe('redis');
  });
});
