import { type Compilable, Kysely, SqliteDialect } from 'kysely';
import { sqliteColumns } from '../column-types.js';
import { openSqliteFile, SQLITE_ADDRESS, sqliteFailure, sqliteFileOf } from '../sqlite-file.js';
import type { SqlDriver } from './sql-database.js';

/** Tables in a file. */
export const sqlite = {
  scheme: 'sqlite',
  address: SQLITE_ADDRESS,
  open: async <Tables>(...[option, address, tables]: Parameters<SqlDriver['open']>) => {
    const file = sqliteFileOf(option, address);
    const database = await openSqliteFile(file, tables(sqliteColumns));
    const kysely = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
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
      orFail: async (query) => {
        try {
          return await query;
        } catch (cause) {
          throw sqliteFailure(file, cause);
        }
      },
      close: () => kysely.destroy(),
    };
  },
} as const satisfies SqlDriver;
