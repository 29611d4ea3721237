import { resolveStore } from '../../lab.js';
import { type OpenStoreWriter, PATTERN } from './store-writer.js';

/** The store of the lab that the address is for. */
export const weirStore = (async (address) => {
  const store = await (await resolveStore(address)).open(address);
  return { save: (batch) => store.save(PATTERN, batch), count: () => store.count() };
}) satisfies OpenStoreWriter;
