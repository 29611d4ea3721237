import { defineConfig } from 'vitest/config';

/**
 * Three projects, slowest last. `unit` is pure logic; `conformance` runs one suite per contract over every
 * variant on real servers; `integration` runs the whole tool. All of them run against `dist`-built packages
 * where processes are started, so build first (`npm test` does).
 *
 * Pure logic and conformance mostly wait for servers, so two files run at a time. Integration runs whole
 * measurements, which want the machine to themselves: one file at a time, after the others.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/*/test/unit/**/*.test.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'conformance',
          include: ['packages/*/test/conformance/**/*.test.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['packages/*/test/integration/**/*.test.ts'],
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
