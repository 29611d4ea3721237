import type { DatabaseName } from '../../databases.js';
import type { OpenStoreWriter } from './store-writer.js';

/** Loaded one at a time: a process that measures one driver shall not carry the others in its memory. */
const BARE = {
  sqlite: async () => (await import('./bare-sqlite.js')).bareSqlite,
  mysql: async () => (await import('./bare-mysql.js')).bareMysql,
  postgres: async () => (await import('./bare-postgres.js')).barePostgres,
} as const satisfies Record<DatabaseName, () => Promise<OpenStoreWriter>>;

export async function loadStoreWriter(
  database: DatabaseName,
  way: 'weir' | 'bare',
): Promise<OpenStoreWriter> {
  return way === 'bare' ? BARE[database]() : (await import('./weir.js')).weirStore;
}
