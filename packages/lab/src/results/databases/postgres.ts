import { PostgresDialect } from 'kysely';
import { postgresColumns } from '../../stores/sql/column-types.js';
import { checkDatabaseUrl, databaseAddress } from '../../stores/sql/database-url.js';
import { openPostgresPool, postgresFailure } from '../../stores/sql/postgres-pool.js';
import type { ResultsDriver } from './results-database.js';
import { openServerDatabase } from './server-database.js';

/** Results in PostgreSQL. */
export const postgres = {
  scheme: 'postgres',
  address: databaseAddress('postgres'),
  open: async (address) => {
    checkDatabaseUrl('--results', 'postgres', address);
    const dialect = new PostgresDialect({ pool: openPostgresPool(address) });
    return openServerDatabase(address, dialect, postgresColumns, postgresFailure);
  },
} as const satisfies ResultsDriver;
