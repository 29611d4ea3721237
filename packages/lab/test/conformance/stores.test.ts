import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { StoredOffset } from '@weir/patterns';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadStores, resolveStore } from '../../src/stores/load-stores.js';
import type { MessageStore, StoredMessage } from '../../src/stores/message-store.js';
import { sqliteMessageStore } from '../../src/stores/sqlite.js';
import { type StoreFixture, storeFixtures } from '../support/store-fixtures.js';

const run = promisify(execFile);
const drivers = [...(await loadStores()).values()];
const keepers = drivers.filter((driver) => driver.keeps ?? true);

let fixture: StoreFixture;
let store: MessageStore;

async function fixtureOf(name: string): Promise<StoreFixture> {
  const make = storeFixtures[name];
  if (make === undefined) throw new Error(`test/support/store-fixtures.ts has no entry for ${name}`);
  return make();
}

function messages(count: number, from = 0): StoredMessage[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `p1-${from + index}`,
    body: Buffer.from(`body ${from + index}`),
  }));
}

function at(position: string, reader = 'key:reader'): StoredOffset {
  return { reader, position };
}

describe.each(drivers)('every store: $name', (driver) => {
  beforeEach(async () => {
    fixture = await fixtureOf(driver.name);
    store = await driver.open(fixture.address);
  });
  afterEach(async () => {
    await store.close();
    await fixture.remove();
  });

  it('is found by its address, which it accepts', async () => {
    expect(await resolveStore(fixture.address)).toBe(driver);
    expect(() => driver.validate(fixture.address)).not.toThrow();
    expect(driver.summary).not.toBe('');
  });

  it('refuses an address that is none of its own, naming it', () => {
    expect(() => driver.validate(`${driver.name}:`)).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining(`"${driver.name}:"`) }),
    );
  });

  it('accounts for each message of a batch', async () => {
    expect(await store.save('queue', messages(10))).toEqual({ inserted: 10, duplicates: 0 });
    expect(await store.save('queue', [])).toEqual({ inserted: 0, duplicates: 0 });
  });

  it('accounts for each message of a batch with an offset, and knows no offset of a new reader', async () => {
    expect(await store.loadOffset('key:new')).toBeUndefined();
    expect(await store.saveWithOffset('stream-xread', messages(10), at('10-0'))).toEqual({
      inserted: 10,
      duplicates: 0,
    });
    const none = await store.saveWithOffset('stream-xread', [], at('10-0'));
    expect(none).toEqual({ inserted: 0, duplicates: 0 });
    // A store that keeps nothing does not keep that either.
    expect(await store.loadOffset('key:reader')).toBe((driver.keeps ?? true) ? '10-0' : undefined);
  });
});

describe.each(keepers)('a store that keeps: $name', (driver) => {
  beforeEach(async () => {
    fixture = await fixtureOf(driver.name);
    store = await driver.open(fixture.address);
  });
  afterEach(async () => {
    await store.close();
    await fixture.remove();
  });

  it.each([1, 2, 3, 100, 999, 1_000, 2_500])('saves a batch of %i', async (size) => {
    expect(await store.save('queue', messages(size))).toEqual({ inserted: size, duplicates: 0 });
    expect(await store.count()).toBe(size);
  });

  it('counts by pattern and clears them all', async () => {
    await store.save('queue', messages(3));
    await store.save('pubsub', messages(4, 3));
    expect([await store.count('queue'), await store.count('pubsub'), await store.count('nope')]).toEqual([
      3, 4, 0,
    ]);
    await store.clear();
    expect(await store.count()).toBe(0);
  });

  it('stores an id once: again, within a batch, and under another pattern', async () => {
    await store.save('queue', messages(5));
    expect(await store.save('queue', messages(10))).toEqual({ inserted: 5, duplicates: 5 });
    expect(await store.save('pubsub', messages(10))).toEqual({ inserted: 0, duplicates: 10 });
    const twin = { id: 'twin', body: Buffer.from('x') };
    expect(await store.save('queue', [twin, twin])).toEqual({ inserted: 1, duplicates: 1 });
    expect(await store.count('queue')).toBe(11);
  });

  it('writes all of a batch or nothing', async () => {
    const broken = messages(700);
    // What no type checker sees: a message from a caller in JavaScript.
    Reflect.set(broken[699] ?? {}, 'body', null);
    await expect(store.save('queue', broken)).rejects.toMatchObject({ code: 'CANNOT_WRITE' });
    expect(await store.count()).toBe(0);
    expect(await store.save('queue', messages(700))).toEqual({ inserted: 700, duplicates: 0 });
  });

  it('keeps the offset of each reader, whatever else is in the batch', async () => {
    await store.saveWithOffset('stream-xread', messages(5), at('5-0 5'));
    await store.saveWithOffset('stream-xread', messages(3), at('7-0', 'key:Reader'));
    expect(await store.saveWithOffset('stream-xread', messages(10), at('10-0 10'))).toEqual({
      inserted: 5,
      duplicates: 5,
    });
    const kept = await Promise.all(['key:reader', 'key:Reader', 'key'].map((each) => store.loadOffset(each)));
    expect(kept).toEqual(['10-0 10', '7-0', undefined]);
    // Redis came back with less: the reader goes back, and the store must not know better.
    await store.saveWithOffset('stream-xread', messages(6), at('6-0 6'));
    await store.close();
    store = await driver.open(fixture.address);
    expect(await store.loadOffset('key:reader')).toBe('6-0 6');
    await store.clear();
    expect(await store.loadOffset('key:reader')).toBeUndefined();
  });

  it('keeps neither rows nor offset when one of them is refused', async () => {
    await store.saveWithOffset('stream-xread', messages(5), at('5-0'));
    const broken = messages(700, 5);
    Reflect.set(broken[699] ?? {}, 'body', null);
    const refusedRow = store.saveWithOffset('stream-xread', broken, at('705-0'));
    await expect(refusedRow).rejects.toMatchObject({ code: 'CANNOT_WRITE' });
    const position = at('705-0');
    Reflect.set(position, 'position', null);
    const refusedOffset = store.saveWithOffset('stream-xread', messages(700, 5), position);
    await expect(refusedOffset).rejects.toMatchObject({ code: 'CANNOT_WRITE' });
    expect([await store.count(), await store.loadOffset('key:reader')]).toEqual([5, '5-0']);
    expect(await store.saveWithOffset('stream-xread', messages(700, 5), at('705-0'))).toEqual({
      inserted: 700,
      duplicates: 0,
    });
  });

  it('keeps bodies byte by byte, the empty one and 8 MiB included', async () => {
    const bodies = new Map([
      ['empty', Buffer.alloc(0)],
      ['no-text', Buffer.from([0xff, 0x00])],
      ['four-byte-utf-8', Buffer.from('𝄞 € \u0000')],
      ['large', Buffer.alloc(8 * 2 ** 20, 0xab)],
    ]);
    await store.save(
      'queue',
      [...bodies].map(([id, body]) => ({ id, body })),
    );
    const stored = await fixture.bodies();
    expect([...stored.keys()].sort()).toEqual([...bodies.keys()].sort());
    for (const [id, body] of bodies) expect(stored.get(id)?.equals(body), id).toBe(true);
  });

  it('keeps its rows when it is opened again', async () => {
    await store.save('queue', messages(20));
    await store.close();
    store = await driver.open(fixture.address);
    expect(await store.count()).toBe(20);
    expect(await store.save('queue', messages(20))).toEqual({ inserted: 0, duplicates: 20 });
  });

  it('takes the batches of three processes at once, opening included', async () => {
    await store.close();
    await fixture.remove();
    fixture = await fixtureOf(driver.name);
    const script = fileURLToPath(new URL('../support/save-messages.mjs', import.meta.url));
    const save = async (prefix: string): Promise<number> => {
      const { stdout } = await run(process.execPath, [script, fixture.address, prefix, '40', '50']);
      const { inserted }: { inserted: number } = JSON.parse(stdout);
      return inserted;
    };
    const inserted = await Promise.all(['a', 'b', 'c'].map(save));
    store = await driver.open(fixture.address);
    const distinct = 3 * 40 * 49 + 40;
    expect(await store.count('queue')).toBe(distinct);
    expect(inserted.reduce((sum, each) => sum + each)).toBe(distinct);
  });
});

describe('sqlite', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-store-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const openAt = async (file: string): Promise<MessageStore> => {
    const address = `sqlite:${file}`;
    return (await resolveStore(address)).open(address);
  };

  it('makes the folder of its file', async () => {
    const opened = await openAt(join(folder, 'a', 'b', 'messages.db'));
    expect(await opened.count()).toBe(0);
    await opened.close();
  });

  it('refuses what it cannot write before anything is saved', async () => {
    await writeFile(
      join(folder, 'plain.txt'),
      'no database, and longer than a header of one hundred bytes'.repeat(9),
    );
    for (const file of [
      join(folder, 'plain.txt', 'x.db'),
      join(folder, 'plain.txt'),
      folder,
      '/proc/weir.db',
    ]) {
      await expect(openAt(file)).rejects.toMatchObject({
        code: 'CANNOT_WRITE',
        exitCode: 73,
        message: expect.stringContaining(file),
        remedy: expect.any(String),
      });
    }
  });

  it('says that the disk is full, and keeps the batches that were saved', async () => {
    const file = join(folder, 'full.db');
    await (await openAt(file)).close();
    const database = new Database(file);
    database.pragma('max_page_count = 64');
    const small = sqliteMessageStore(database, file);
    await small.save('queue', messages(700));
    const large = messages(700, 700).map(({ id }) => ({ id, body: Buffer.alloc(4_096) }));
    await expect(small.save('queue', large)).rejects.toMatchObject({
      code: 'CANNOT_WRITE',
      message: expect.stringMatching(/full\.db.*disk is full/),
      remedy: expect.stringContaining('space'),
    });
    expect(await small.count()).toBe(700);
    await small.close();
  });
});

it('lists the stores there are for one it does not know', async () => {
  await expect(resolveStore('mongodb://localhost')).rejects.toMatchObject({
    code: 'UNKNOWN_NAME',
    exitCode: 64,
    message: expect.stringContaining('mongodb'),
    remedy: expect.stringContaining('sqlite:FILE'),
  });
});
