import { type Compilable, Kysely, SqliteDialect } from 'kysely';
import { sqliteColumns } from '../../stores/sql/column-types.js';
import { openSqliteFile, SQLITE_ADDRESS, sqliteFailure, sqliteFileOf } from '../../stores/sql/sqlite-file.js';
import { type ResultTables, resultMigrations } from '../migrations/results.js';
import type { ResultsDriver } from './results-database.js';

/** Results in a file: the default. */
export const sqlite = {
  scheme: 'sqlite',
  address: SQLITE_ADDRESS,
  open: async (address) => {
    const file = sqliteFileOf('--results', address);
    const database = await openSqliteFile(file, resultMigrations(sqliteColumns));
    const kysely = new Kysely<ResultTables>({ dialect: new SqliteDialect({ database }) });
    /*
     * Not by Kysely's own transactions: those span awaits, and the lock would be held while another connection of
     * this process waits for it without letting us go on.
     */
    const runInTransaction = database.transaction((statements: readonly Compilable[]) => {
      for (const statement of statements) {
        const { sql, parameters } = statement.compile();
        database.prepare(sql).run(...parameters);
      }
    }).immediate;
    return {
      where: file,
      kysely,
      runAll: async (statements) => {
        try {
          runInTransaction(statements);
        } catch (cause) {
          throw sqliteFailure(file, cause);
        }
      },
      close: () => kysely.destroy(),
    };
  },
} as const satisfies ResultsDriver;
