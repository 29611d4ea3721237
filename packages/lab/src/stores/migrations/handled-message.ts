import type { Kysely, Migration } from 'kysely';

/** The name that `migrations` are recorded under. */
export const HANDLED_MESSAGE = 'handled_message';

/** Tables of a message store. Add a new entry for each change; never edit one that was released. */
export const handledMessageMigrations = {
  /** One row per message, whichever pattern carried it. The primary key is what makes handling idempotent. */
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
} as const satisfies Record<string, Migration>;
