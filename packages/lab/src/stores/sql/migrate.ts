import { type Dialect, Kysely, Migrator } from 'kysely';
import type { Migrations } from './migrate-sqlite.js';

/**
 * Brings the tables of a database server up to date with Kysely's migrator, which takes a lock of the database, so
 * that several processes may open the same new store at once. (A SQLite file: `migrate-sqlite.ts`.)
 *
 * @param dialect over a pool that its owner closes
 * @throws whatever the driver or a migration throws
 */
export async function migrate(dialect: Dialect, { name, steps }: Migrations): Promise<void> {
  const migrator = new Migrator({
    db: new Kysely<unknown>({ dialect }),
    provider: { getMigrations: async () => ({ ...steps }) },
    migrationTableName: `${name}_migration`,
    migrationLockTableName: `${name}_migration_lock`,
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}
