import { defineConfig } from 'vitest/config';

/**
 * Three projects, slowest last. `unit` is pure logic; `conformance` runs one suite per contract over every
 * variant on real servers; `integration` runs the whole tool. All of them run against `dist`-built packages
 * where processes are started, so build first (`npm test` does).
 */
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['packages/*/test/unit/**/*.test.ts'] } },
      {
        test: {
          name: 'conformance',
          include: ['packages/*/test/conformance/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['packages/*/test/integration/**/*.test.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
