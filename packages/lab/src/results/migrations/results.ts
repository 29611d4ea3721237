import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../../stores/sql/column-types.js';
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

/** Tables of a results store. */
export function resultMigrations({ id, text }: ColumnTypes) {
  return {
    name: 'weir_results',
    steps: {
      '0001-runs-and-trials': {
        up: async (database: Kysely<unknown>) => {
          await database.schema
            .createTable('runs')
            .addColumn('id', id, (column) => column.primaryKey().notNull())
            .addColumn('experiment', id, (column) => column.notNull())
            .addColumn('started_at', id, (column) => column.notNull())
            .addColumn('finished_at', id)
            .addColumn('status', id)
            .addColumn('summary', text)
            .addColumn('validity', text)
            .addColumn('error', text)
            .addColumn('plan', text, (column) => column.notNull())
            .addColumn('environment', text, (column) => column.notNull())
            .execute();
          await database.schema
            .createTable('trials')
            .addColumn('run_id', id, (column) => column.notNull())
            .addColumn('trial_id', id, (column) => column.notNull())
            .addColumn('json', text, (column) => column.notNull())
            .addPrimaryKeyConstraint('trials_primary_key', ['run_id', 'trial_id'])
            // Of the table, not of the column: MySQL reads a column's REFERENCES and ignores it.
            .addForeignKeyConstraint('trials_of_run', ['run_id'], 'runs', ['id'], (key) =>
              key.onDelete('cascade'),
            )
            .execute();
        },
      },
    },
  } as const satisfies Migrations;
}
