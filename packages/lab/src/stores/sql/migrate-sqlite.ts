import type { Database } from 'better-sqlite3';
import type { Migration } from 'kysely';

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
 * nothing to do; a crash half-way leaves nothing. A file that is up to date is not locked at all, and Kysely is not
 * even loaded for it: that takes longer than everything else a consumer of a short trial does to get ready.
 *
 * @throws whatever SQLite or a migration throws, after rolling back
 */
export async function migrateSqlite(database: Database, { name, steps }: Migrations): Promise<void> {
  if (isUpToDate(database, name, Object.keys(steps))) return;
  const { Kysely, Migrator, SqliteDialect } = await import('kysely');
  const migrator = new Migrator({
    db: new Kysely<unknown>({ dialect: new SqliteDialect({ database }) }),
    provider: { getMigrations: async () => ({ ...steps }) },
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

/** Kysely keeps the names of the steps it has made in a table of the set. */
function isUpToDate(database: Database, name: string, steps: readonly string[]): boolean {
  const table = `${name}_migration`;
  const exists = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table);
  if (exists === undefined) return false;
  const made = new Set(database.prepare(`SELECT name FROM "${table}"`).pluck().all());
  return steps.every((step) => made.has(step));
}
