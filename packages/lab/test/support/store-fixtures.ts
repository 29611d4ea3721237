import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { HANDLED_MESSAGE } from '../../src/stores/migrations/handled-message.js';

interface Row {
  readonly id: string;
  readonly body: Buffer;
}

/** An empty place for one test, and how it is taken away again. */
export interface StoreFixture {
  readonly address: string;
  /** Every body that is stored, by message id, read past the store: as another program would. */
  bodies(): Promise<ReadonlyMap<string, Buffer>>;
  remove(): Promise<void>;
}

/** How a test gets an address for each store. A new driver needs an entry here, and passes the same suite. */
export const storeFixtures: Readonly<Record<string, () => Promise<StoreFixture>>> = {
  none: async () => ({ address: 'none', bodies: async () => new Map(), remove: async () => undefined }),
  sqlite: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weir-store-'));
    const file = join(folder, 'messages.db');
    return {
      address: `sqlite:${file}`,
      bodies: async () => {
        const database = new Database(file, { readonly: true });
        const rows = database.prepare<[], Row>(`SELECT id, body FROM ${HANDLED_MESSAGE}`).all();
        database.close();
        return new Map(rows.map(({ id, body }) => [id, body]));
      },
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  },
};
