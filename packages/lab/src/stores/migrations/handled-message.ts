import type { Kysely } from 'kysely';
import type { Migrations } from '../sql/migrate-sqlite.js';

/** One row per message, whichever pattern carried it. The primary key is what makes handling idempotent. */
export const HANDLED_MESSAGE = 'handled_message';

/** Tables of a message store. */
export const handledMessageMigrations = {
  name: HANDLED_MESSAGE,
  steps: {
    '0001-handled-message': {
      up: async (database: Kysely<unknown>) => {
        await database.schema
          .createTable(HANDLED_MESSAGE)
          .addColumn('id', 'text', (column) => column.primaryKey().notNull())
          .addColumn('pattern', 'text', (column) => column.notNull())
          .addColumn('body', 'blob', (column) => column.notNull())
          .execute();
      },
    },
  },
} as const satisfies Migrations;
