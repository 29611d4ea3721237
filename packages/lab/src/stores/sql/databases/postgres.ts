import { PostgresDialect } from 'kysely';
import { checkDatabaseUrl, databaseAddress } from '../database-url.js';
import { openPostgresPool, postgresFailure } from '../postgres-pool.js';
import { postgresColumns } from '../server-column-types.js';
import { openServerDatabase } from './server-database.js';
import type { SqlDriver } from './sql-database.js';

/** Tables in PostgreSQL. */
export const postgres = {
  scheme: 'postgres',
  address: databaseAddress('postgres'),
  open: async <Tables>(...[option, address, tables]: Parameters<SqlDriver['open']>) => {
    checkDatabaseUrl(option, 'postgres', address);
    const dialect = new PostgresDialect({ pool: openPostgresPool(address) });
    return openServerDatabase<Tables>(address, dialect, tables(postgresColumns), postgresFailure);
  },
} as const satisfies SqlDriver;
