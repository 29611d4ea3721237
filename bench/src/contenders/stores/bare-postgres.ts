import { Client } from 'pg';
import { type OpenStoreWriter, PATTERN } from './store-writer.js';

const INSERT = `INSERT INTO message (id, pattern, body)
  SELECT id, $1, body FROM unnest($2::text[], $3::bytea[]) AS message (id, body)
  ON CONFLICT (id) DO NOTHING`;

/** pg alone: one connection, the statement of the lab's store. */
export const barePostgres = (async (address) => {
  const client = new Client(address);
  await client.connect();
  const text = 'varchar(255) COLLATE "C" NOT NULL';
  await client.query(`CREATE TABLE message (id ${text} PRIMARY KEY, pattern ${text}, body bytea NOT NULL)`);
  return {
    save: (messages) =>
      client.query(INSERT, [PATTERN, messages.map(({ id }) => id), messages.map(({ body }) => body)]),
    count: async () => {
      const { rows } = await client.query<{ readonly total: string }>(
        'SELECT count(*) AS total FROM message',
      );
      return Number(rows[0]?.total ?? 0);
    },
  };
}) satisfies OpenStoreWriter;
