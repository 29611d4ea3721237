import { DatabaseError, Pool, type PoolClient } from 'pg';
import { redact } from '../../core/redact.js';
import { databaseFailure, type FailureKind, isNetworkFailure } from './database-failure.js';

/** Several consumers of one process may save at once; each save takes one connection. */
const CONNECTIONS = 8;
const CONNECT_TIMEOUT_MS = 5_000;
/** A server that takes a statement and says nothing for this long is treated as gone. */
const STATEMENT_TIMEOUT_MS = 30_000;

/**
 * Connections to a PostgreSQL server that come back by themselves: one that broke is thrown away and the next
 * statement opens another. Nothing is connected until something is asked.
 */
export function openPostgresPool(address: string): Pool {
  const pool = new Pool({
    connectionString: address,
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: STATEMENT_TIMEOUT_MS,
    keepAlive: true,
    application_name: 'weir',
  });
  // A connection that breaks fails its statement and also says so by an event, which may come after it was given back
  // or thrown away. An event nobody listens to would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('error', () => undefined);
  return pool;
}

/**
 * Lends a connection to `work`. After an error it is not used again: a transaction it left open ends with it.
 * @throws {WeirError} STORE_UNREACHABLE or CANNOT_WRITE
 */
export async function withPostgresClient<T>(
  pool: Pool,
  address: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  try {
    const client = await pool.connect();
    try {
      const result = await work(client);
      client.release();
      return result;
    } catch (error) {
      client.release(true);
      throw error;
    }
  } catch (error) {
    throw postgresFailure(address, error);
  }
}

export function postgresFailure(address: string, error: unknown): Error {
  return databaseFailure(redact(address), postgresFailureKind(error), error);
}

/** By SQLSTATE (https://www.postgresql.org/docs/current/errcodes-appendix.html), or by what pg itself says. */
export function postgresFailureKind(error: unknown): FailureKind {
  if (error instanceof DatabaseError) {
    const state = error.code ?? '';
    if (CONFLICTS.test(state)) return 'conflict';
    return OUTAGES.test(state) ? 'outage' : 'refused';
  }
  return isNetworkFailure(error) || (error instanceof Error && CONNECTION_LOST.test(error.message))
    ? 'outage'
    : 'refused';
}

/** Serialisation failure, deadlock, lock not available. */
const CONFLICTS = /^(40001|40P01|55P03)$/;

/**
 * Connection exceptions (08), wrong user, password or database (28, 3D, 42501), no resources (53), ended by an
 * operator or starting up (57), system errors (58), read-only because it is a standby (25006).
 */
const OUTAGES = /^(08...|28...|3D...|42501|42P01|53...|57...|58...|25006)$/;

/** pg gives these no code. */
const CONNECTION_LOST =
  /^Connection terminated|timeout|not queryable|Client has encountered a connection error/i;
