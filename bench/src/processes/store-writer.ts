import { loadStoreWriter } from '../contenders/stores/load-store-writer.js';
import type { StoreWriter } from '../contenders/stores/store-writer.js';
import type { DatabaseName } from '../databases.js';
import { monotonicNs, type StoredMessage, serveWorker, type WorkerApi } from '../lab.js';
import type { SendReport } from './api.js';
import { bodies } from './bodies.js';

/** What the bench asks of the process that writes to a database: one writer, one trial. */
export interface StoreWriterApi extends WorkerApi {
  /** Connects and makes the tables. Called once, first. */
  readonly prepare: (settings: StoreWriterSettings) => Promise<void>;
  /** Saves a range of messages, batch after batch; answers when the last is stored. */
  readonly save: (load: StoreLoad) => Promise<SendReport>;
  /** Rows that are stored. */
  readonly count: (parameters: undefined) => Promise<number>;
}

export interface StoreWriterSettings {
  readonly database: DatabaseName;
  readonly way: 'weir' | 'bare';
  readonly address: string;
  readonly batch: number;
}

export interface StoreLoad {
  /** Number of the first message, which is its id as well. */
  readonly from: number;
  /** A multiple of the batch. */
  readonly count: number;
}

serveWorker((): StoreWriterApi => {
  let prepared: { readonly writer: StoreWriter; readonly batch: number } | undefined;

  const ready = (): NonNullable<typeof prepared> => {
    if (prepared === undefined) throw new Error('prepare comes first');
    return prepared;
  };

  return {
    async prepare({ database, way, address, batch }) {
      const open = await loadStoreWriter(database, way);
      prepared = { writer: await open(address, batch), batch };
    },
    async save({ from, count }) {
      const { writer, batch } = ready();
      const messages = bodies(from, count).map(
        (body, index): StoredMessage => ({ id: `bench-${from + index}`, body: Buffer.from(body) }),
      );
      const firstSendNs = monotonicNs();
      for (let start = 0; start < count; start += batch)
        await writer.save(messages.slice(start, start + batch));
      return { firstSendNs, lastAcknowledgedNs: monotonicNs() };
    },
    count: () => ready().writer.count(),
  };
});
