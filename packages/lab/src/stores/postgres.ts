import type { StoredOffset } from '@weir/patterns';
import { PostgresDialect } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { MessageStore, MessageStoreDriver, StoredMessage } from './message-store.js';
import { HANDLED_MESSAGE, handledMessageMigrations, READER_OFFSET } from './migrations/handled-message.js';
import { repeatOnConflict } from './sql/database-failure.js';
import { checkDatabaseUrl, databaseAddress } from './sql/database-url.js';
import { migrate } from './sql/migrate.js';
import {
  openPostgresPool,
  postgresFailure,
  postgresFailureKind,
  withPostgresClient,
} from './sql/postgres-pool.js';
import { postgresColumns } from './sql/server-column-types.js';
import { type StatementLimits, statementParts } from './sql/statement-parts.js';

/**
 * Writes messages to PostgreSQL through pg: one INSERT per batch, which is a transaction by itself. The batch goes as
 * two arrays, so that one statement serves every batch size.
 *
 * Guarantees: what was saved survives as `synchronous_commit` says (by default a crash of the machine, too); a message
 * id is stored once, whichever process saves it. When the server restarts, saves fail with STORE_UNREACHABLE until it
 * is back, and succeed again by themselves.
 * Loses: nothing. A save whose answer was lost may have been stored; saving again finds the ids there.
 */
export const postgres = {
  name: 'postgres',
  summary: 'PostgreSQL, one statement per batch',
  address: databaseAddress('postgres'),
  validate: (address) => checkDatabaseUrl('--store', 'postgres', address),
  open: async (address) => {
    checkDatabaseUrl('--store', 'postgres', address);
    const pool = openPostgresPool(address);
    try {
      await migrate(new PostgresDialect({ pool }), handledMessageMigrations(postgresColumns));
      return postgresMessageStore(pool, address);
    } catch (error) {
      await pool.end();
      throw postgresFailure(address, error);
    }
  },
} as const satisfies MessageStoreDriver;

/** Bytes travel as hexadecimal text, twice as long, and a statement may be 1 GB: far below that on purpose. */
const LIMITS = { rows: 10_000, bytes: 64 * 2 ** 20 } as const satisfies StatementLimits;

const INSERT = `INSERT INTO ${HANDLED_MESSAGE} (id, pattern, body)
  SELECT id, $1, body FROM unnest($2::text[], $3::bytea[]) AS message (id, body)
  ON CONFLICT (id) DO NOTHING`;

const KEEP_OFFSET = `INSERT INTO ${READER_OFFSET} (reader, position) VALUES ($1, $2)
  ON CONFLICT (reader) DO UPDATE SET position = excluded.position`;

function postgresMessageStore(pool: Pool, address: string): MessageStore {
  const insert = async (client: PoolClient, pattern: string, part: readonly StoredMessage[]) => {
    const ids = part.map(({ id }) => id);
    const bodies = part.map(({ body }) => body);
    return (await client.query(INSERT, [pattern, ids, bodies])).rowCount ?? 0;
  };
  const save = async (
    client: PoolClient,
    pattern: string,
    messages: readonly StoredMessage[],
    offset?: StoredOffset,
  ) => {
    const parts = statementParts(messages, LIMITS);
    const [first] = parts;
    if (offset === undefined && parts.length <= 1) {
      // One statement is a transaction by itself, in one round trip.
      return first === undefined ? 0 : insert(client, pattern, first);
    }
    await client.query('BEGIN');
    let inserted = 0;
    for (const part of parts) inserted += await insert(client, pattern, part);
    if (offset !== undefined) await client.query(KEEP_OFFSET, [offset.reader, offset.position]);
    await client.query('COMMIT');
    return inserted;
  };
  const ask = <T>(work: (client: PoolClient) => Promise<T>) => withPostgresClient(pool, address, work);
  const kindOf = (error: unknown) => postgresFailureKind(error instanceof Error ? error.cause : error);

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
      const { rows } = await ask((each) =>
        each.query<{ readonly position: string }>(`SELECT position FROM ${READER_OFFSET} WHERE reader = $1`, [
          reader,
        ]),
      );
      return rows[0]?.position;
    },
    ping: async () => {
      await ask((each) => each.query('SELECT 1'));
    },
    count: async (pattern) => {
      const where = pattern === undefined ? '' : ' WHERE pattern = $1';
      const { rows } = await ask((each) =>
        each.query<{ readonly total: string }>(
          `SELECT count(*) AS total FROM ${HANDLED_MESSAGE}${where}`,
          pattern === undefined ? [] : [pattern],
        ),
      );
      return Number(rows[0]?.total ?? 0);
    },
    clear: async () => {
      await ask((each) => each.query(`DELETE FROM ${HANDLED_MESSAGE}; DELETE FROM ${READER_OFFSET}`));
    },
    close: () => pool.end(),
  };
}
