import type { Database } from 'better-sqlite3';
import { Kysely, type Migration, Migrator, SqliteDialect } from 'kysely';

/** A set of migrations under a name of its own, so that several sets may share a file. */
export interface Migrations {
  readonly name: string;
  /** In the order of their names. Add a new one for each change; never edit one that was released. */
  readonly steps: Readonly<Record<string, Migration>>;
}

/**
 * Brings the tables of a SQLite file up to date with Kysely's migrator.
 *
 * Kysely's lock for SQLite covers one connection only, and several consumers open the same new file at the same
 * moment. So the whole migration is one immediate transaction: the second process waits for it and then finds
 * nothing to do; a crash half-way leaves nothing. A file that is up to date is not locked at all.
 *
 * @throws whatever SQLite or a migration throws, after rolling back
 */
export async function migrateSqlite(database: Database, { name, steps }: Migrations): Promise<void> {
  const migrator = new Migrator({
    db: new Kysely<unknown>({ dialect: new SqliteDialect({ database }) }),
    provider: { getMigrations: async () => ({ ...steps }) },
    migrationTableName: `${name}_migration`,
    migrationLockTableName: `${name}_migration_lock`,
    disableTransactions: true,
  });
  const known = await migrator.getMigrations();
  if (known.every(({ executedAt }) => executedAt !== undefined)) return;
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
