import { MysqlDialect } from 'kysely';
import { checkDatabaseUrl, databaseAddress } from '../database-url.js';
import { mysqlFailure, openMysqlPool } from '../mysql-pool.js';
import { mysqlColumns } from '../server-column-types.js';
import { openServerDatabase } from './server-database.js';
import type { SqlDriver } from './sql-database.js';

/** Tables in MySQL or MariaDB. */
export const mysql = {
  scheme: 'mysql',
  address: databaseAddress('mysql'),
  open: async <Tables>(...[option, address, tables]: Parameters<SqlDriver['open']>) => {
    checkDatabaseUrl(option, 'mysql', address);
    const dialect = new MysqlDialect({ pool: openMysqlPool(address) });
    return openServerDatabase<Tables>(address, dialect, tables(mysqlColumns), mysqlFailure);
  },
} as const satisfies SqlDriver;
