import { createPool, type Pool, type PoolConnection } from 'mysql2';
import type { PoolConnection as Connection } from 'mysql2/promise';
import { redact } from '../../core/redact.js';
import { codeOf, databaseFailure, type FailureKind, isNetworkFailure } from './database-failure.js';

/** Several consumers of one process may save at once; each save takes one connection. */
const CONNECTIONS = 8;
const CONNECT_TIMEOUT_MS = 5_000;
/** A server that takes a statement and says nothing for this long is treated as gone. */
export const STATEMENT_TIMEOUT_MS = 30_000;
/** Statements of so many batch sizes are kept prepared on a connection; the server keeps each of them too. */
const PREPARED_STATEMENTS = 32;

/**
 * Connections to a MySQL or MariaDB server that come back by themselves: one that broke is thrown away and the next
 * statement opens another. Nothing is connected until something is asked.
 */
export function openMysqlPool(address: string): Pool {
  const pool = createPool({
    uri: address,
    connectionLimit: CONNECTIONS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableKeepAlive: true,
    maxPreparedStatements: PREPARED_STATEMENTS,
    // `affectedRows` shall count rows that changed, so that a message that was there already counts as 0.
    flags: ['-FOUND_ROWS'],
  });
  pool.on('connection', (connection: PoolConnection) => {
    // A connection that breaks fails its statement and also says so by an event. The pool listens to the first one; a
    // further one that nobody listens to would end the process.
    connection.on('error', () => undefined);
    // Without strict mode a server cuts what is too long and stores it, with a warning nobody reads.
    connection.query("SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES')", () => undefined);
  });
  return pool;
}

/**
 * Lends a connection to `work`. After an error it is not used again: a transaction it left open ends with it.
 * @throws {WeirError} STORE_UNREACHABLE or CANNOT_WRITE
 */
export async function withMysqlConnection<T>(
  pool: Pool,
  address: string,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  try {
    const connection = await pool.promise().getConnection();
    try {
      const result = await work(connection);
      connection.release();
      return result;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  } catch (error) {
    throw mysqlFailure(address, error);
  }
}

export function mysqlFailure(address: string, error: unknown): Error {
  return databaseFailure(redact(address), mysqlFailureKind(error), error);
}

/** By the names of https://dev.mysql.com/doc/mysql-errors/8.0/en/server-error-reference.html, mysql2's own included. */
export function mysqlFailureKind(error: unknown): FailureKind {
  const code = codeOf(error);
  if (CONFLICTS.test(code)) return 'conflict';
  return isNetworkFailure(error) || OUTAGES.test(code) ? 'outage' : 'refused';
}

const CONFLICTS = /^ER_(LOCK_DEADLOCK|LOCK_WAIT_TIMEOUT|CHECKREAD)$/;

const OUTAGES = new RegExp(
  `^(PROTOCOL_CONNECTION_LOST|PROTOCOL_SEQUENCE_TIMEOUT|HANDSHAKE_.*|ER_(${[
    // The server ends, starts, or has no room for one more connection.
    'SERVER_SHUTDOWN|NORMAL_SHUTDOWN|CON_COUNT_ERROR|TOO_MANY_USER_CONNECTIONS|CONNECTION_KILLED|QUERY_INTERRUPTED',
    'NET_.*|CLIENT_INTERACTION_TIMEOUT',
    // It does not know us, or not this database.
    'ACCESS_DENIED_.*|DBACCESS_DENIED_ERROR|BAD_DB_ERROR|NO_SUCH_TABLE|HOST_.*|ACCOUNT_HAS_BEEN_LOCKED',
    'MUST_CHANGE_PASSWORD.*|TABLEACCESS_DENIED_ERROR',
    // It may not or cannot write now: a replica, a full disk, no memory.
    'OPTION_PREVENTS_STATEMENT|READ_ONLY_MODE|CANT_EXECUTE_IN_READ_ONLY_TRANSACTION|DISK_FULL|RECORD_FILE_FULL',
    'ERROR_ON_WRITE|OUTOFMEMORY|OUT_OF_RESOURCES|TABLE_IS_READ_ONLY|OPEN_AS_READONLY',
  ].join('|')}))$`,
);
