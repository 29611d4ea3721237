import { MysqlDialect } from 'kysely';
import { mysqlColumns } from '../../stores/sql/column-types.js';
import { checkDatabaseUrl, databaseAddress } from '../../stores/sql/database-url.js';
import { mysqlFailure, openMysqlPool } from '../../stores/sql/mysql-pool.js';
import type { ResultsDriver } from './results-database.js';
import { openServerDatabase } from './server-database.js';

/** Results in MySQL or MariaDB. */
export const mysql = {
  scheme: 'mysql',
  address: databaseAddress('mysql'),
  open: async (address) => {
    checkDatabaseUrl('--results', 'mysql', address);
    const dialect = new MysqlDialect({ pool: openMysqlPool(address) });
    return openServerDatabase(address, dialect, mysqlColumns, mysqlFailure);
  },
} as const satisfies ResultsDriver;
