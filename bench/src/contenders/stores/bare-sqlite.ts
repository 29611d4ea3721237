import Database from 'better-sqlite3';
import { type OpenStoreWriter, PATTERN } from './store-writer.js';

/** better-sqlite3 alone: one INSERT for the batch, prepared once, with the durability of the lab's store. */
export const bareSqlite = (async (address, batch) => {
  const database = new Database(address.replace(/^sqlite:/, ''));
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = NORMAL');
  database.exec(
    'CREATE TABLE message (id text NOT NULL PRIMARY KEY, pattern text NOT NULL, body blob NOT NULL)',
  );
  const values = new Array(batch).fill('(?, ?, ?)').join(', ');
  const insert = database.prepare(`INSERT INTO message VALUES ${values} ON CONFLICT (id) DO NOTHING`);
  const count = database.prepare<[], { readonly total: number }>('SELECT count(*) AS total FROM message');
  return {
    save: async (messages) => insert.run(messages.flatMap(({ id, body }) => [id, PATTERN, body])),
    count: async () => count.get()?.total ?? 0,
  };
}) satisfies OpenStoreWriter;
