import type { StoredMessage } from '../../lab.js';

/**
 * The contract of something that writes batches of messages to a database, each id once: a store of the lab, or the
 * driver alone. Opened in a process that serves one trial and ends with it, so nothing here has to be closed.
 */
export interface StoreWriter {
  /** One batch in one transaction. An id that is there already is left as it is. */
  save(batch: readonly StoredMessage[]): Promise<unknown>;
  /** Rows that are stored. */
  count(): Promise<number>;
}

/**
 * Opens a writer over an empty database of the trial.
 * @param address as `--store` takes it: `sqlite:FILE`, `mysql://…`, `postgres://…`
 * @param batch messages in each `save`: a loop that knows it prepares its one statement before
 */
export type OpenStoreWriter = (address: string, batch: number) => Promise<StoreWriter>;

/** Recorded with each row. */
export const PATTERN = 'bench';
