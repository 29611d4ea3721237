import type { Kysely } from 'kysely';
import type { Migrations } from '../../stores/sql/migrate-sqlite.js';

/** The tables as the newest migration leaves them. JSON columns hold the parts of `weir.result/1` of that name. */
export interface ResultTables {
  readonly runs: RunRow;
  readonly trials: TrialRow;
}

export interface RunRow {
  readonly id: string;
  readonly experiment: string;
  /** ISO 8601, UTC. */
  readonly started_at: string;
  /** These five are null until the run has finished. */
  readonly finished_at: string | null;
  readonly status: string | null;
  readonly summary: string | null;
  readonly validity: string | null;
  /** Why it failed; null otherwise. */
  readonly error: string | null;
  readonly plan: string;
  readonly environment: string;
}

export interface TrialRow {
  readonly run_id: string;
  readonly trial_id: string;
  readonly json: string;
}

export const resultMigrations = {
  name: 'weir_results',
  steps: {
    '0001-runs-and-trials': {
      up: async (database: Kysely<unknown>) => {
        await database.schema
          .createTable('runs')
          .addColumn('id', 'text', (column) => column.primaryKey().notNull())
          .addColumn('experiment', 'text', (column) => column.notNull())
          .addColumn('started_at', 'text', (column) => column.notNull())
          .addColumn('finished_at', 'text')
          .addColumn('status', 'text')
          .addColumn('summary', 'text')
          .addColumn('validity', 'text')
          .addColumn('error', 'text')
          .addColumn('plan', 'text', (column) => column.notNull())
          .addColumn('environment', 'text', (column) => column.notNull())
          .execute();
        await database.schema
          .createTable('trials')
          .addColumn('run_id', 'text', (column) => column.notNull().references('runs.id').onDelete('cascade'))
          .addColumn('trial_id', 'text', (column) => column.notNull())
          .addColumn('json', 'text', (column) => column.notNull())
          .addPrimaryKeyConstraint('trials_primary_key', ['run_id', 'trial_id'])
          .execute();
      },
    },
  },
} as const satisfies Migrations;
