import { unknownName } from '../core/errors.js';
import { loadVariants } from '../core/load-variants.js';
import { redact } from '../core/redact.js';
import type { MessageStoreDriver } from './message-store.js';

let loaded: Promise<ReadonlyMap<string, MessageStoreDriver>> | undefined;

/** Every message store there is, by name. Read once. */
export function loadStores(): Promise<ReadonlyMap<string, MessageStoreDriver>> {
  loaded ??= loadVariants(new URL('./', import.meta.url), ['message-store', 'load-stores'], isDriver);
  return loaded;
}

/**
 * The driver an address is for: `sqlite:FILE` -> `sqlite`, `none` -> `none`. The rest of the address is for the
 * driver's `validate`.
 * @throws {WeirError} UNKNOWN_NAME with the stores there are
 */
export async function resolveStore(address: string): Promise<MessageStoreDriver> {
  const drivers = await loadStores();
  const scheme = address.split(':', 1)[0] ?? address;
  const driver = drivers.get(scheme);
  if (driver === undefined) {
    const known = [...drivers.values()].map((each) => each.address);
    throw unknownName('store', scheme, known);
  }
  return driver;
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
