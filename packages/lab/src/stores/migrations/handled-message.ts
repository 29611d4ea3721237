import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../sql/column-types.js';
import type { Migrations } from '../sql/migrate-sqlite.js';

/** One row per message, whichever pattern carried it. The primary key is what makes handling idempotent. */
export const HANDLED_MESSAGE = 'handled_message';

/** Tables of a message store. */
export function handledMessageMigrations({ id, bytes }: ColumnTypes) {
  return {
    name: HANDLED_MESSAGE,
    steps: {
      '0001-handled-message': {
        up: async (database: Kysely<unknown>) => {
          await database.schema
            .createTable(HANDLED_MESSAGE)
            .addColumn('id', id, (column) => column.primaryKey().notNull())
            .addColumn('pattern', id, (column) => column.notNull())
            .addColumn('body', bytes, (column) => column.notNull())
            .execute();
        },
      },
    },
  } as const satisfies Migrations;
}
