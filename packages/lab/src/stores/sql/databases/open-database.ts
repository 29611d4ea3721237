import { unknownName, usageError } from '../../../core/errors.js';
import { redact } from '../../../core/redact.js';
import type { ColumnTypes } from '../column-types.js';
import type { Migrations } from '../migrate-sqlite.js';
import { mysql } from './mysql.js';
import { postgres } from './postgres.js';
import type { SqlDatabase, SqlDriver } from './sql-database.js';
import { sqlite } from './sqlite.js';

const DRIVERS = [sqlite, mysql, postgres] as const satisfies readonly SqlDriver[];

/** How the addresses of the databases there are, are written. */
export const DATABASE_ADDRESSES: readonly string[] = DRIVERS.map(({ address }) => address);

/**
 * Opens the database of an address and brings its tables up to date.
 * @param option where the address came from, for messages
 * @throws {WeirError} USAGE or UNKNOWN_NAME for an address that is none, CANNOT_WRITE, STORE_UNREACHABLE
 */
export async function openDatabase<Tables>(
  option: string,
  address: string,
  tables: (columns: ColumnTypes) => Migrations,
): Promise<SqlDatabase<Tables>> {
  const scheme = /^([a-z]+):/.exec(address)?.[1];
  const driver = DRIVERS.find((each) => each.scheme === scheme);
  if (driver !== undefined) return driver.open<Tables>(option, address, tables);
  if (scheme === undefined) throw usageError(option, redact(address), DATABASE_ADDRESSES.join(' or '));
  throw unknownName('database', scheme, DATABASE_ADDRESSES);
}
