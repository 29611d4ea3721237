import { usageError } from '../core/errors.js';
import type { MessageStoreDriver } from './message-store.js';

/**
 * Keeps nothing: what a pattern does without a database behind its handler. The control of every comparison of
 * stores, and the template for a new one.
 *
 * Loses: everything, at once, by design. Guarantees: it takes no time.
 */
export const none = {
  name: 'none',
  summary: 'keeps nothing; measures the pattern alone',
  address: 'none',
  keeps: false,
  validate: (address) => {
    if (address !== 'none') throw usageError('--store', address, 'none, without anything behind it');
  },
  open: async () => ({
    save: async (_pattern, messages) => ({ inserted: messages.length, duplicates: 0 }),
    saveWithOffset: async (_pattern, messages) => ({ inserted: messages.length, duplicates: 0 }),
    loadOffset: async () => undefined,
    ping: async () => undefined,
    count: async () => 0,
    clear: async () => undefined,
    close: async () => undefined,
  }),
} as const satisfies MessageStoreDriver;
