import { type Dialect, Kysely } from 'kysely';
import { redact } from '../../core/redact.js';
import type { ColumnTypes } from '../../stores/sql/column-types.js';
import { migrate } from '../../stores/sql/migrate.js';
import { type ResultTables, resultMigrations } from '../migrations/results.js';
import type { ResultsDatabase } from './results-database.js';

/**
 * Results in the database of a server.
 * @param dialect over a pool that ends with the database
 * @param failure the error for what the driver threw
 */
export async function openServerDatabase(
  address: string,
  dialect: Dialect,
  columns: ColumnTypes,
  failure: (address: string, error: unknown) => Error,
): Promise<ResultsDatabase> {
  const kysely = new Kysely<ResultTables>({ dialect });
  const orFail = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw failure(address, error);
    }
  };
  try {
    await orFail(migrate(dialect, resultMigrations(columns)));
  } catch (error) {
    await kysely.destroy();
    throw error;
  }
  return {
    where: redact(address),
    kysely,
    runAll: (statements) =>
      orFail(
        kysely.transaction().execute(async (transaction) => {
          for (const statement of statements) await transaction.executeQuery(statement.compile());
        }),
      ),
    close: () => kysely.destroy(),
  };
}
