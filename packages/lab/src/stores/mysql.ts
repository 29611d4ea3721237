import type { StoredOffset } from '@weir/patterns';
import { MysqlDialect } from 'kysely';
import type { Pool } from 'mysql2';
import type { PoolConnection, ResultSetHeader, RowDataPacket } from 'mysql2/promise';
import type { MessageStore, MessageStoreDriver, StoredMessage } from './message-store.js';
import { HANDLED_MESSAGE, handledMessageMigrations, READER_OFFSET } from './migrations/handled-message.js';
import { repeatOnConflict } from './sql/database-failure.js';
import { checkDatabaseUrl, databaseAddress } from './sql/database-url.js';
import { migrate } from './sql/migrate.js';
import {
  mysqlFailure,
  mysqlFailureKind,
  openMysqlPool,
  STATEMENT_TIMEOUT_MS,
  withMysqlConnection,
} from './sql/mysql-pool.js';
import { mysqlColumns } from './sql/server-column-types.js';
import { type StatementLimits, statementParts } from './sql/statement-parts.js';

/**
 * Writes messages to MySQL 8 or MariaDB 10.11 through mysql2: one prepared multi-row INSERT per batch, which is a
 * transaction by itself.
 *
 * Guarantees: what was saved survives as InnoDB's settings say (by default a crash of the machine, too); a message id
 * is stored once, whichever process saves it. When the server restarts, saves fail with STORE_UNREACHABLE until it is
 * back, and succeed again by themselves.
 * Loses: nothing. A save whose answer was lost may have been stored; saving again finds the ids there.
 */
export const mysql = {
  name: 'mysql',
  summary: 'MySQL 8 or MariaDB 10.11, one statement per batch',
  address: databaseAddress('mysql'),
  validate: (address) => checkDatabaseUrl('--store', 'mysql', address),
  open: async (address) => {
    checkDatabaseUrl('--store', 'mysql', address);
    const pool = openMysqlPool(address);
    try {
      await migrate(new MysqlDialect({ pool }), handledMessageMigrations(mysqlColumns));
      return mysqlMessageStore(pool, address, await limitsOf(pool));
    } catch (error) {
      pool.end(() => undefined);
      throw mysqlFailure(address, error);
    }
  },
} as const satisfies MessageStoreDriver;

/** 3 parameters a row; the protocol counts parameters in 16 bits. */
const MOST_ROWS = 1_000;

function mysqlMessageStore(pool: Pool, address: string, limits: StatementLimits): MessageStore {
  const insert = async (connection: PoolConnection, pattern: string, part: readonly StoredMessage[]) => {
    const values = part.flatMap(({ id, body }) => [id, pattern, body]);
    const statement = { sql: insertOf(part.length), values, timeout: STATEMENT_TIMEOUT_MS };
    const [{ affectedRows }] = await connection.execute<ResultSetHeader>(statement);
    return affectedRows;
  };
  const keepOffset = (connection: PoolConnection, { reader, position }: StoredOffset) =>
    connection.execute({
      sql: KEEP_OFFSET,
      values: [reader, position, position],
      timeout: STATEMENT_TIMEOUT_MS,
    });
  const save = async (
    connection: PoolConnection,
    pattern: string,
    messages: readonly StoredMessage[],
    offset?: StoredOffset,
  ) => {
    const parts = statementParts(messages, limits);
    const [first] = parts;
    if (offset === undefined && parts.length <= 1) {
      // One statement is a transaction by itself, in one round trip.
      return first === undefined ? 0 : insert(connection, pattern, first);
    }
    await connection.beginTransaction();
    let inserted = 0;
    for (const part of parts) inserted += await insert(connection, pattern, part);
    if (offset !== undefined) await keepOffset(connection, offset);
    await connection.commit();
    return inserted;
  };
  const ask = <T>(work: (connection: PoolConnection) => Promise<T>) =>
    withMysqlConnection(pool, address, work);
  const kindOf = (error: unknown) => mysqlFailureKind(error instanceof Error ? error.cause : error);

  const saveAll = async (pattern: string, messages: readonly StoredMessage[], offset?: StoredOffset) => {
    const inserted = await repeatOnConflict(kindOf, () =>
      ask((each) => save(each, pattern, messages, offset)),
    );
    return { inserted, duplicates: messages.length - inserted };
  };

  return {
    save: (pattern, messages) => saveAll(pattern, messages),
    saveWithOffset: saveAll,
    loadOffset: async (reader) => {
      const [[row]] = await ask((each) =>
        each.execute<(RowDataPacket & { readonly position: string })[]>(
          `SELECT position FROM ${READER_OFFSET} WHERE reader = ?`,
          [reader],
        ),
      );
      return row?.position;
    },
    ping: () => ask((each) => each.ping()),
    count: async (pattern) => {
      const where = pattern === undefined ? '' : ' WHERE pattern = ?';
      const [[row]] = await ask((each) =>
        each.execute<(RowDataPacket & { readonly total: number })[]>(
          `SELECT count(*) AS total FROM ${HANDLED_MESSAGE}${where}`,
          pattern === undefined ? [] : [pattern],
        ),
      );
      return row?.total ?? 0;
    },
    clear: async () => {
      await ask((each) => each.query(`DELETE FROM ${HANDLED_MESSAGE}`));
      await ask((each) => each.query(`DELETE FROM ${READER_OFFSET}`));
    },
    close: () => pool.promise().end(),
  };
}

/** In the words that MySQL and MariaDB share: an alias for the new row knows only the one, VALUES() is on its way out. */
const KEEP_OFFSET = `INSERT INTO ${READER_OFFSET} (reader, position) VALUES (?, ?) ON DUPLICATE KEY UPDATE position = ?`;

/**
 * The update does nothing and says so (0 affected rows). INSERT IGNORE would do the same for ids that are there, and
 * would also store cut ids and empty bodies in place of errors.
 */
function insertOf(rows: number): string {
  const values = new Array(rows).fill('(?, ?, ?)').join(', ');
  return `INSERT INTO ${HANDLED_MESSAGE} (id, pattern, body) VALUES ${values} ON DUPLICATE KEY UPDATE id = id`;
}

/** A statement is one packet: half of the largest one leaves room for the statement itself and the pattern's name. */
async function limitsOf(pool: Pool): Promise<StatementLimits> {
  const [[row]] = await pool
    .promise()
    .query<(RowDataPacket & { readonly bytes: number })[]>('SELECT @@max_allowed_packet AS bytes');
  return { rows: MOST_ROWS, bytes: (row?.bytes ?? 2 ** 22) / 2 };
}
