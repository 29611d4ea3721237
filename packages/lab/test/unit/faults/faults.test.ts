import { expect, it } from 'vitest';
import { CRASH_POINTS, PERSISTENCE } from '../../../src/faults/fault.js';
import { loadFaults } from '../../../src/faults/load-faults.js';

const faults = [...(await loadFaults()).values()];

it('offers every fault that lies in the folder, the control among them', () => {
  const names = faults.map(({ name }) => name);
  expect(names).toEqual([...names].sort());
  expect(names).toEqual(
    expect.arrayContaining(['none', 'poison', 'consumer-kill', 'redis-restart', 'failover']),
  );
  expect(names).not.toContain('tcp-proxy');
});

it.each(faults.map((fault) => [fault.name, fault] as const))('%s is declared in full', (_name, fault) => {
  expect(fault.summary.length).toBeGreaterThan(10);
  expect(fault.points.every((point) => CRASH_POINTS.includes(point))).toBe(true);
  expect((fault.persistence ?? []).every((setting) => PERSISTENCE.includes(setting))).toBe(true);
  // It strikes at a point, or it lies in the handler, or it is the control.
  const isEvent = fault.strike !== undefined;
  expect(fault.points.length > 0).toBe(isEvent);
  expect(isEvent || fault.handler !== undefined || fault.kind === 'none').toBe(true);
});
