import type { StoredOffset } from '@weir/patterns';
import type { Database, Statement } from 'better-sqlite3';
import type { MessageStore, MessageStoreDriver, StoredMessage } from './message-store.js';
import { HANDLED_MESSAGE, handledMessageMigrations, READER_OFFSET } from './migrations/handled-message.js';
import { sqliteColumns } from './sql/column-types.js';
import { openSqliteFile, SQLITE_ADDRESS, sqliteFailure, sqliteFileOf } from './sql/sqlite-file.js';

/**
 * Writes messages to a SQLite file through better-sqlite3, one transaction per batch.
 *
 * Guarantees: a saved batch survives a crash of the process; a message id is stored once, whichever process saves it.
 * Loses: the last batches when the *machine* crashes (`synchronous = NORMAL`, see `sql/sqlite-file.ts`).
 * Several processes may write the same file; SQLite lets one write at a time and the others wait.
 */
export const sqlite = {
  name: 'sqlite',
  summary: 'a SQLite file, one transaction per batch',
  address: SQLITE_ADDRESS,
  validate: (address) => {
    sqliteFileOf('--store', address);
  },
  open: async (address) => {
    const file = sqliteFileOf('--store', address);
    return sqliteMessageStore(await openSqliteFile(file, handledMessageMigrations(sqliteColumns)), file);
  },
} as const satisfies MessageStoreDriver;

/** Rows of the largest INSERT: 3 parameters each, well below SQLite's limit of 32,766. */
const MOST_ROWS = 512;

type Parameter = string | Buffer;

/**
 * A store over an open database whose tables are there. `close` closes the database.
 * @param file for messages
 */
export function sqliteMessageStore(database: Database, file: string): MessageStore {
  const inserts = new Map<number, Statement<[Parameter[]]>>();
  const countAll = database.prepare<[], { rows: number }>(`SELECT count(*) AS rows FROM ${HANDLED_MESSAGE}`);
  const countOne = database.prepare<[string], { rows: number }>(
    `SELECT count(*) AS rows FROM ${HANDLED_MESSAGE} WHERE pattern = ?`,
  );
  const keepOffset = database.prepare<[StoredOffset]>(
    `INSERT INTO ${READER_OFFSET} (reader, position) VALUES (:reader, :position)
      ON CONFLICT (reader) DO UPDATE SET position = excluded.position`,
  );
  const offsetOf = database
    .prepare<[string], string>(`SELECT position FROM ${READER_OFFSET} WHERE reader = ?`)
    .pluck();

  function insertOf(rows: number): Statement<[Parameter[]]> {
    const known = inserts.get(rows);
    if (known !== undefined) return known;
    const values = new Array(rows).fill('(?, ?, ?)').join(', ');
    const insert = database.prepare<[Parameter[]]>(
      `INSERT INTO ${HANDLED_MESSAGE} (id, pattern, body) VALUES ${values} ON CONFLICT (id) DO NOTHING`,
    );
    inserts.set(rows, insert);
    return insert;
  }

  function insertPart(
    pattern: string,
    messages: readonly StoredMessage[],
    from: number,
    rows: number,
  ): number {
    const parameters: Parameter[] = [];
    for (const { id, body } of messages.slice(from, from + rows)) parameters.push(id, pattern, body);
    return insertOf(rows).run(parameters).changes;
  }

  /*
   * Multi-row INSERTs are 1.3 times as fast as a loop over one-row INSERTs in the same transaction (500 rows of
   * 100 bytes: 360,000 against 275,000 rows/s). A statement per batch size would have to be prepared again for
   * almost every batch, since a consumer's batches vary in size; parts whose sizes are powers of two need ten
   * statements in all and cost the same.
   */
  function insertBatch(pattern: string, messages: readonly StoredMessage[]): number {
    let inserted = 0;
    for (let from = 0; from < messages.length; ) {
      const rows = largestPart(messages.length - from);
      inserted += insertPart(pattern, messages, from, rows);
      from += rows;
    }
    return inserted;
  }

  // IMMEDIATE takes the write lock at BEGIN, where SQLite waits for a busy writer; a transaction that starts
  // reading and then writes is refused instead.
  const insertInTransaction = database.transaction(insertBatch).immediate;
  const insertWithOffset = database.transaction(
    (pattern: string, messages: readonly StoredMessage[], offset: StoredOffset) => {
      keepOffset.run(offset);
      return insertBatch(pattern, messages);
    },
  ).immediate;

  return {
    save: async (pattern, messages) => {
      // One statement is a transaction by itself.
      const single = messages.length === largestPart(messages.length);
      try {
        const inserted = (single ? insertBatch : insertInTransaction)(pattern, messages);
        return { inserted, duplicates: messages.length - inserted };
      } catch (cause) {
        throw sqliteFailure(file, cause);
      }
    },
    saveWithOffset: async (pattern, messages, offset) => {
      try {
        const inserted = insertWithOffset(pattern, messages, offset);
        return { inserted, duplicates: messages.length - inserted };
      } catch (cause) {
        throw sqliteFailure(file, cause);
      }
    },
    loadOffset: async (reader) => offsetOf.get(reader),
    ping: async () => {
      try {
        database.exec('BEGIN IMMEDIATE; ROLLBACK');
      } catch (cause) {
        throw sqliteFailure(file, cause);
      }
    },
    count: async (pattern) => (pattern === undefined ? countAll.get() : countOne.get(pattern))?.rows ?? 0,
    clear: async () => {
      try {
        database.exec(`DELETE FROM ${HANDLED_MESSAGE}; DELETE FROM ${READER_OFFSET}`);
      } catch (cause) {
        throw sqliteFailure(file, cause);
      }
    },
    close: async () => {
      database.close();
    },
  };
}

/** The largest power of two that is at most `rows` and at most `MOST_ROWS`. */
function largestPart(rows: number): number {
  return Math.min(MOST_ROWS, 2 ** Math.floor(Math.log2(Math.max(1, rows))));
}
