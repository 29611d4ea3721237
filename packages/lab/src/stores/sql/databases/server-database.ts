import { type Dialect, Kysely } from 'kysely';
import { redact } from '../../../core/redact.js';
import { migrate } from '../migrate.js';
import type { Migrations } from '../migrate-sqlite.js';
import type { SqlDatabase } from './sql-database.js';

/**
 * Tables in the database of a server.
 * @param dialect over a pool that ends with the database
 * @param failure the error for what the driver threw
 */
export async function openServerDatabase<Tables>(
  address: string,
  dialect: Dialect,
  tables: Migrations,
  failure: (address: string, error: unknown) => Error,
): Promise<SqlDatabase<Tables>> {
  const kysely = new Kysely<Tables>({ dialect });
  const orFail = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      throw failure(address, error);
    }
  };
  try {
    await orFail(migrate(dialect, tables));
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
    orFail,
    close: () => kysely.destroy(),
  };
}
