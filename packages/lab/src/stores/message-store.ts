import type { StoredOffset } from '@weir/patterns';

/**
 * Where a consumer's handler writes the messages it handled. One file per database; `none.ts` is the template
 * and the control. A store is opened inside the consumer's process.
 */
export interface MessageStoreDriver {
  /** Registered name and the scheme of its address: `sqlite` for `sqlite:FILE`; `none` has no address. */
  readonly name: string;
  readonly summary: string;
  /** How an address is written, for help and errors: `sqlite:FILE`. */
  readonly address: string;
  /** Whether what is saved can be counted and found again. Default true; false for a store that keeps nothing. */
  readonly keeps?: boolean;
  /**
   * Checks an address without opening it.
   * @throws {WeirError} USAGE naming what is wrong with it
   */
  validate(address: string): void;
  /**
   * Opens the store and brings its tables up to date.
   * @throws {WeirError} STORE_UNREACHABLE or CANNOT_WRITE
   */
  open(address: string): Promise<MessageStore>;
}

export interface StoredMessage {
  /** Unique message id, `<producer>-<sequence>`. The store keeps one row for each. */
  readonly id: string;
  readonly body: Buffer;
}

export interface SaveReceipt {
  readonly inserted: number;
  /** Ids that were already there: not written again. */
  readonly duplicates: number;
}

export interface MessageStore {
  /**
   * Writes one batch in one transaction; all or nothing. A message whose id is there already is left as it is.
   * @param pattern recorded with each row
   */
  save(pattern: string, messages: readonly StoredMessage[]): Promise<SaveReceipt>;
  /**
   * As `save`, and keeps how far the reader has come in the same transaction: after a crash either both are there or
   * neither, so a reader that goes on from `loadOffset` stores nothing twice and leaves nothing out. What is kept is
   * what came last, also when it lies before what was there: a reader is set back when Redis has lost entries.
   */
  saveWithOffset(
    pattern: string,
    messages: readonly StoredMessage[],
    offset: StoredOffset,
  ): Promise<SaveReceipt>;
  /** @returns the position kept last for the reader; `undefined` when there is none, or nothing is kept. */
  loadOffset(reader: string): Promise<string | undefined>;
  /**
   * Asks the database whether it answers.
   * @throws {WeirError} STORE_UNREACHABLE or CANNOT_WRITE
   */
  ping(): Promise<void>;
  /** Rows, of one pattern or of all. */
  count(pattern?: string): Promise<number>;
  /** Removes every handled message and every offset; for the start of a trial in a store that weir made. */
  clear(): Promise<void>;
  close(): Promise<void>;
}
