import { inspect } from 'node:util';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resolveStore } from '../../src/stores/load-stores.js';
import type { MessageStore, StoredMessage } from '../../src/stores/message-store.js';
import { DATABASE_PASSWORD, type DatabaseServer } from '../../src/stores/servers/database-server.js';
import { eventually } from '../support/condition.js';
import { mariadb, postgresql } from '../support/store-fixtures.js';

const servers = [
  { name: 'mysql', start: mariadb.server },
  { name: 'postgres', start: postgresql.server },
];

const message = (id: string, bytes = 4): StoredMessage => ({ id, body: Buffer.alloc(bytes, 'x') });

/** What a store threw, with everything that a log could show of it. */
async function failureOf(attempt: Promise<unknown>) {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(inspect(error, { depth: 20 })).not.toContain(DATABASE_PASSWORD);
  return error;
}

describe.each(servers)('a store on a database server: $name', ({ start }) => {
  let server: DatabaseServer;
  let address: string;
  let store: MessageStore;

  const open = async (url: string): Promise<MessageStore> => (await resolveStore(url)).open(url);

  beforeAll(async () => {
    server = await start();
  });
  beforeEach(async () => {
    address = await server.createDatabase();
    store = await open(address);
    return () => store.close();
  });

  it('says that the database is away while it is, and saves again when it is back', async () => {
    await store.save('queue', [message('before')]);
    await server.kill();
    try {
      for (const id of ['during-1', 'during-2']) {
        expect(await failureOf(store.save('queue', [message('before'), message(id)]))).toMatchObject({
          code: 'STORE_UNREACHABLE',
          exitCode: 69,
          message: expect.stringContaining(`127.0.0.1:${server.port}`),
          remedy: expect.any(String),
        });
      }
      expect(await failureOf(store.ping())).toMatchObject({ code: 'STORE_UNREACHABLE' });
      expect(await failureOf(open(address))).toMatchObject({ code: 'STORE_UNREACHABLE' });
    } finally {
      await server.restart();
    }
    expect(await store.save('queue', [message('before'), message('during-1')])).toEqual({
      inserted: 1,
      duplicates: 1,
    });
  });

  it('stores each message once when the database crashes under load and every save is repeated', async () => {
    let saved = 0;
    let failed = 0;
    let ending = false;
    const save = async (worker: number): Promise<void> => {
      for (let batch = 0; !ending; ) {
        const messages = Array.from({ length: 50 }, (_, index) => message(`${worker}-${batch * 50 + index}`));
        try {
          await store.save('queue', messages);
          saved += messages.length;
          batch++;
        } catch (error) {
          expect(error).toMatchObject({ code: 'STORE_UNREACHABLE' });
          failed++;
        }
      }
    };
    const workers = Promise.all([0, 1, 2].map(save));
    await eventually('load', () => saved > 1_000);
    await server.kill();
    await eventually('an error', () => failed > 0);
    await server.restart();
    const before = saved;
    await eventually('load again', () => saved > before + 1_000);
    ending = true;
    await workers;
    expect(await store.count()).toBe(saved);
  });

  it('refuses a wrong password and a database that is not there, without showing the password', async () => {
    const wrong = address.replace(DATABASE_PASSWORD, `${DATABASE_PASSWORD}-wrong`);
    expect(await failureOf(open(wrong))).toMatchObject({ code: 'STORE_UNREACHABLE' });
    const nowhere = new URL(address);
    nowhere.pathname = '/weir_nowhere';
    expect(await failureOf(open(nowhere.href))).toMatchObject({ code: 'STORE_UNREACHABLE' });
  });

  it('refuses an address without a host or a database, without showing the password', async () => {
    const { protocol } = new URL(address);
    for (const text of [
      `${protocol}//weir:${DATABASE_PASSWORD}@`,
      `${protocol}//weir:${DATABASE_PASSWORD}@127.0.0.1:1`,
      `${protocol}//weir:${DATABASE_PASSWORD}@127.0.0.1:port/x`,
      `${protocol}//weir:${DATABASE_PASSWORD}@127.0.0.1/a/b`,
    ]) {
      expect(await failureOf(open(text))).toMatchObject({ code: 'USAGE', exitCode: 64 });
    }
  });

  it('stores a batch that is larger than one statement may be, or nothing of it', async () => {
    const large = Array.from({ length: 10 }, (_, index) => message(`large-${index}`, 7 * 2 ** 20));
    Reflect.set(large[9] ?? {}, 'body', null);
    await expect(store.save('queue', large)).rejects.toMatchObject({ code: 'CANNOT_WRITE' });
    expect(await store.count()).toBe(0);
    large[9] = message('large-last', 1);
    expect(await store.save('queue', large)).toEqual({ inserted: 10, duplicates: 0 });
  });

  it('tells ids apart by case and accents, and refuses one that is too long instead of cutting it', async () => {
    expect(
      await store.save(
        'queue',
        ['a', 'A', 'ä'].map((id) => message(id)),
      ),
    ).toEqual({ inserted: 3, duplicates: 0 });
    await expect(store.save('queue', [message('x'.repeat(256))])).rejects.toMatchObject({
      code: 'CANNOT_WRITE',
    });
    expect(await store.count()).toBe(3);
  });

  it('takes ids and patterns as data, whatever is in them', async () => {
    const hostile = [
      `'; DROP TABLE handled_message; --`,
      `\\'); DELETE FROM handled_message; -- `,
      `x" OR 1=1`,
    ];
    for (const text of hostile) await store.save(text, [message(text)]);
    expect(await store.count()).toBe(hostile.length);
    for (const text of hostile) expect(await store.count(text)).toBe(1);
  });
});
