import type { Compilable, Kysely } from 'kysely';
import type { ResultTables } from '../migrations/results.js';

/** The database under a results store: what differs between the databases that can hold one. */
export interface ResultsDatabase {
  /** File or address without credentials, for messages. */
  readonly where: string;
  /** For reading. */
  readonly kysely: Kysely<ResultTables>;
  /**
   * Runs statements in one transaction, all or none.
   * @throws {WeirError} CANNOT_WRITE or STORE_UNREACHABLE
   */
  runAll(statements: readonly Compilable[]): Promise<void>;
  close(): Promise<void>;
}

/** Opens one kind of database, by the scheme of its address. */
export interface ResultsDriver {
  readonly scheme: string;
  /** How an address is written, for help and errors. */
  readonly address: string;
  /** @throws {WeirError} USAGE, CANNOT_WRITE or STORE_UNREACHABLE */
  open(address: string): Promise<ResultsDatabase>;
}
