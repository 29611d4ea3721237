import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../sql/column-types.js';
import type { Migrations } from '../sql/migrate-sqlite.js';

/** One row per message, whichever pattern carried it. The primary key is what makes handling idempotent. */
export const HANDLED_MESSAGE = 'handled_message';

/** One row per reader that keeps its offset here: how far it has come. */
export const READER_OFFSET = 'reader_offset';

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
      '0002-reader-offset': {
        up: async (database: Kysely<unknown>) => {
          await database.schema
            .createTable(READER_OFFSET)
            .addColumn('reader', id, (column) => column.primaryKey().notNull())
            .addColumn('position', id, (column) => column.notNull())
            .execute();
        },
      },
    },
  } as const satisfies Migrations;
}
