import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { type OpenStoreWriter, PATTERN } from './store-writer.js';

/** mysql2 alone: one connection, the statement of the lab's store, prepared once by the driver. */
export const bareMysql = (async (address, batch) => {
  const connection = await createConnection(address);
  const text = 'varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL';
  await connection.query(
    `CREATE TABLE message (id ${text} PRIMARY KEY, pattern ${text}, body longblob NOT NULL)`,
  );
  const values = new Array(batch).fill('(?, ?, ?)').join(', ');
  const insert = `INSERT INTO message (id, pattern, body) VALUES ${values} ON DUPLICATE KEY UPDATE id = id`;
  return {
    save: (messages) =>
      connection.execute(
        insert,
        messages.flatMap(({ id, body }) => [id, PATTERN, body]),
      ),
    count: async () => {
      const [[row]] = await connection.query<(RowDataPacket & { readonly total: number })[]>(
        'SELECT count(*) AS total FROM message',
      );
      return row?.total ?? 0;
    },
  };
}) satisfies OpenStoreWriter;
