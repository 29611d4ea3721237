import { unknownName } from '../core/errors.js';
import { loadVariant, loadVariants } from '../core/load-variants.js';
import { redact } from '../core/redact.js';
import type { MessageStore, MessageStoreDriver } from './message-store.js';

const FOLDER = new URL('./', import.meta.url);
const NOT_STORES = ['message-store', 'load-stores'];

let loaded: Promise<ReadonlyMap<string, MessageStoreDriver>> | undefined;

/** Every message store there is, by name. Read once. */
export function loadStores(): Promise<ReadonlyMap<string, MessageStoreDriver>> {
  loaded ??= loadVariants(FOLDER, NOT_STORES, isDriver);
  return loaded;
}

/**
 * The driver an address is for: `sqlite:FILE` -> `sqlite`, `none` -> `none`. The rest of the address is for the
 * driver's `validate`.
 * @throws {WeirError} UNKNOWN_NAME with the stores there are
 */
export async function resolveStore(address: string): Promise<MessageStoreDriver> {
  const scheme = address.split(':', 1)[0] ?? address;
  const driver = await loadVariant(FOLDER, NOT_STORES, isDriver, scheme);
  if (driver !== undefined) return driver;
  const known = [...(await loadStores()).values()].map((each) => each.address);
  throw unknownName('store', scheme, known);
}

/**
 * Opens the store of an address for one piece of work, and closes it whatever happens.
 * @throws what `resolveStore`, `open` and the work throw
 */
export async function withStore<T>(address: string, work: (store: MessageStore) => Promise<T>): Promise<T> {
  const store = await (await resolveStore(address)).open(address);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** The address of a store as it may be shown and stored: without a password. */
export function shownStore(address: string): string {
  return address.includes('://') ? redact(address) : address;
}

function isDriver(value: unknown): value is MessageStoreDriver {
  if (typeof value !== 'object' || value === null) return false;
  const isFunction = (name: string): boolean => typeof Reflect.get(value, name) === 'function';
  return typeof Reflect.get(value, 'name') === 'string' && isFunction('validate') && isFunction('open');
}
