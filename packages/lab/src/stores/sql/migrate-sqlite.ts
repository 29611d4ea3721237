import type { Database } from 'better-sqlite3';
import { Kysely, type Migration, Migrator, SqliteDialect } from 'kysely';

/**
 * Brings the tables of a SQLite file up to date with Kysely's migrator.
 *
 * Kysely's lock for SQLite covers one connection only, and several consumers open the same new file at the same
 * moment. So the whole migration is one immediate transaction: the second process waits for it and then finds
 * nothing to do; a crash half-way leaves nothing.
 *
 * @param name  of this set of migrations; several sets may share a file
 * @throws whatever SQLite or a migration throws, after rolling back
 */
export async function migrateSqlite(
  database: Database,
  name: string,
  migrations: Readonly<Record<string, Migration>>,
): Promise<void> {
  const migrator = new Migrator({
    db: new Kysely<unknown>({ dialect: new SqliteDialect({ database }) }),
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableName: `${name}_migration`,
    migrationLockTableName: `${name}_migration_lock`,
    disableTransactions: true,
  });
  database.exec('BEGIN IMMEDIATE');
  try {
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    database.exec('COMMIT');
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
