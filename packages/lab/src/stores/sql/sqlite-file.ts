import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { usageError, WeirError } from '../../core/errors.js';
import { type Migrations, migrateSqlite } from './migrate-sqlite.js';

/** How an address of this kind is written. */
export const SQLITE_ADDRESS = 'sqlite:FILE';

/** How long a writer waits for another process to finish its transaction, in milliseconds. */
const BUSY_TIMEOUT_MS = 10_000;

/**
 * The file an address names.
 * @param option where the address came from, for the message
 * @throws {WeirError} USAGE
 */
export function sqliteFileOf(option: string, address: string): string {
  const [, file] = /^sqlite:(?!\/\/[^/])(.+)$/s.exec(address) ?? [];
  if (file === undefined || file === ':memory:') {
    throw usageError(option, address, `${SQLITE_ADDRESS}, with a file that several processes can open`);
  }
  return resolve(file);
}

/**
 * Opens a SQLite file for reading and writing and brings its tables up to date; makes the file and its folder when
 * they are not there.
 *
 * - `journal_mode = WAL`: readers do not stop the writer, and one fsync per checkpoint, not two per transaction.
 * - `synchronous = NORMAL`: in WAL mode a crash of the process loses nothing; a crash of the machine may lose the
 *   last transactions, never the consistency of the file (https://sqlite.org/pragma.html#pragma_synchronous).
 *   That is what a consumer needs that can be handed its messages again, and it is the same for every pattern.
 * - A busy writer is waited for. The wait blocks the event loop, as everything in better-sqlite3 does, so no
 *   transaction may span an `await`: another connection of the same process would wait for it for ever.
 *
 * @throws {WeirError} CANNOT_WRITE when the file cannot be opened *and written*: SQLite itself opens a read-only
 *   file without a word and fails at the first write
 */
export function openSqliteFile(file: string, tables: Migrations): Promise<Database.Database> {
  // One at a time: a migration does span awaits.
  const opened = opening.then(() => openAndMigrate(file, tables));
  opening = opened.catch(() => undefined);
  return opened;
}

let opening: Promise<unknown> = Promise.resolve();

async function openAndMigrate(file: string, tables: Migrations): Promise<Database.Database> {
  let database: Database.Database | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true });
    database = new Database(file, { timeout: BUSY_TIMEOUT_MS });
    database.pragma('journal_mode = WAL');
    database.pragma('synchronous = NORMAL');
    database.pragma('foreign_keys = ON');
    database.exec('BEGIN IMMEDIATE; ROLLBACK');
    await migrateSqlite(database, tables);
    return database;
  } catch (cause) {
    database?.close();
    throw sqliteFailure(file, cause);
  }
}

/** What a failed statement means to the user: a full disk, a file that is no database, a lock held too long. */
export function sqliteFailure(file: string, cause: unknown): WeirError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const reason = cause instanceof Error ? cause.message : String(cause);
  const remedy = REMEDIES.find(({ pattern }) => pattern.test(code))?.remedy;
  const message = `${file} cannot be written: ${reason}${code === '' || reason.includes(code) ? '' : ` (${code})`}`;
  return new WeirError('CANNOT_WRITE', message, { cause, ...(remedy === undefined ? {} : { remedy }) });
}

const REMEDIES = [
  { pattern: /^(SQLITE_FULL|ENOSPC)/, remedy: 'free some space on that disk, or name a file on another one' },
  { pattern: /^SQLITE_NOTADB/, remedy: 'name another file: this one is no SQLite database' },
  { pattern: /^SQLITE_BUSY/, remedy: 'another program holds the file locked; end it or name another file' },
  {
    pattern: /^(SQLITE_CANTOPEN|SQLITE_READONLY|EACCES|EROFS|ENOTDIR|EEXIST|EPERM|ENOENT)/,
    remedy: 'name a file in a folder you may write to',
  },
];
