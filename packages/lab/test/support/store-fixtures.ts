import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { Client } from 'pg';
import { afterAll } from 'vitest';
import { HANDLED_MESSAGE } from '../../src/stores/migrations/handled-message.js';
import type { DatabaseServer } from '../../src/stores/servers/database-server.js';
import { startMariadbServer } from '../../src/stores/servers/mariadb-server.js';
import { startPostgresServer } from '../../src/stores/servers/postgres-server.js';

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
        const rows = database.prepare<[], Row>(SELECT).all();
        database.close();
        return bodiesOf(rows);
      },
      remove: () => rm(folder, { recursive: true, force: true }),
    };
  },
  mysql: async () => {
    const address = await (await mariadb.server()).createDatabase();
    return {
      address,
      bodies: async () => {
        const connection = await createConnection(address);
        const [rows] = await connection.query<(RowDataPacket & Row)[]>(SELECT);
        await connection.end();
        return bodiesOf(rows);
      },
      remove: async () => undefined,
    };
  },
  postgres: async () => {
    const address = await (await postgresql.server()).createDatabase();
    return {
      address,
      bodies: async () => {
        const client = new Client(address);
        await client.connect();
        const { rows } = await client.query<Row>(SELECT);
        await client.end();
        return bodiesOf(rows);
      },
      remove: async () => undefined,
    };
  },
};

const SELECT = `SELECT id, body FROM ${HANDLED_MESSAGE}`;

function bodiesOf(rows: readonly Row[]): ReadonlyMap<string, Buffer> {
  return new Map(rows.map(({ id, body }) => [id, body]));
}

/** One server for all tests of a file, started when the first asks; its databases go with it. */
function shared(start: () => Promise<DatabaseServer>) {
  let started: Promise<DatabaseServer> | undefined;
  afterAll(async () => {
    await (await started)?.stop();
  });
  return {
    server: () => {
      started ??= start();
      return started;
    },
  };
}

export const mariadb = shared(startMariadbServer);
export const postgresql = shared(startPostgresServer);
