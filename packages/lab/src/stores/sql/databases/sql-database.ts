import type { Compilable, Kysely } from 'kysely';
import type { ColumnTypes } from '../column-types.js';
import type { Migrations } from '../migrate-sqlite.js';

/** A database that holds a set of tables: what differs between the databases that can. */
export interface SqlDatabase<Tables> {
  /** File or address without credentials, for messages. */
  readonly where: string;
  /** For reading, and for building the statements of `runAll`. */
  readonly kysely: Kysely<Tables>;
  /**
   * Runs statements in one transaction, all or none.
   * @throws {WeirError} CANNOT_WRITE or STORE_UNREACHABLE
   */
  runAll(statements: readonly Compilable[]): Promise<void>;
  /**
   * Waits for a query and turns what the driver throws into an error of weir.
   * @throws {WeirError} CANNOT_WRITE or STORE_UNREACHABLE
   */
  orFail<T>(query: Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Opens one kind of database, by the scheme of its address. */
export interface SqlDriver {
  readonly scheme: string;
  /** How an address is written, for help and errors. */
  readonly address: string;
  /**
   * @param option where the address came from, for messages
   * @param tables brought up to date
   * @throws {WeirError} USAGE, CANNOT_WRITE or STORE_UNREACHABLE
   */
  open<Tables>(
    option: string,
    address: string,
    tables: (columns: ColumnTypes) => Migrations,
  ): Promise<SqlDatabase<Tables>>;
}
