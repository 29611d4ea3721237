import type { DatabaseName } from '../databases.js';
import { NANOSECONDS_PER_SECOND } from '../lab.js';
import { MARIADB, POSTGRESQL, type Prerequisite } from '../prerequisites.js';
import type { StoreWriterApi, StoreWriterSettings } from '../processes/store-writer.js';
import type { Trial } from '../stage.js';
import type { Figures, Measurement, Side } from './measurement.js';

/**
 * What a message store costs beyond its driver: a pool, counted duplicates, errors that are told apart. Both sides
 * write the same rows with the same statement, which leaves ids that are there as they are.
 */
const BATCH = 100;
const WARM_UP = 0.2;

interface MeasuredStore {
  readonly driver: string;
  readonly messages: number;
  readonly needs: readonly Prerequisite[];
}

/** One measurement a store, so that the two trials of a comparison are neighbours in time. */
export const stores: readonly Measurement[] = [
  measurementOf('sqlite', { driver: 'better-sqlite3', messages: 100_000, needs: [] }),
  measurementOf('mysql', { driver: 'mysql2', messages: 30_000, needs: [MARIADB] }),
  measurementOf('postgres', { driver: 'pg', messages: 30_000, needs: [POSTGRESQL] }),
];

function measurementOf(database: DatabaseName, { driver, messages, needs }: MeasuredStore): Measurement {
  const side = (way: StoreWriterSettings['way'], label: string): Side => ({
    ...{ label, messages },
    play: (trial, count) => play(trial, database, way, count),
  });
  return {
    name: `store-${database}`,
    sides: { weir: side('weir', `weir store ${database}`), bare: side('bare', `bare ${driver} loop`) },
    lines: [
      {
        name: `store-${database}-vs-bare-driver`,
        item: 'h',
        figure: 'messagesPerSecond',
        side: 'weir',
        baseline: 'bare',
        target: 0.7,
        better: 'higher',
        needs,
        conditions: `batches of ${BATCH}, one after the other, each one deduplicating INSERT and one transaction`,
      },
    ],
  };
}

async function play(
  trial: Trial,
  database: DatabaseName,
  way: StoreWriterSettings['way'],
  messages: number,
): Promise<Figures> {
  const warmUp = wholeBatches(messages * WARM_UP);
  const measured = wholeBatches(messages);
  const writer = await trial.startProcess<StoreWriterApi>('bench', 'store-writer');
  const address = await trial.emptyDatabase(database);
  await writer.call('prepare', { database, way, address, batch: BATCH });
  await writer.call('save', { from: 0, count: warmUp });
  const saved = await writer.call('save', { from: warmUp, count: measured });
  // Once more, unmeasured: a writer that does not deduplicate compares with nothing.
  await writer.call('save', { from: warmUp, count: BATCH });
  const rows = await writer.call('count', undefined);
  if (rows !== warmUp + measured) {
    throw new Error(`the trial is void: ${warmUp + measured} messages were saved and ${rows} are stored`);
  }
  return {
    messagesPerSecond: (measured * NANOSECONDS_PER_SECOND) / (saved.lastAcknowledgedNs - saved.firstSendNs),
  };
}

function wholeBatches(messages: number): number {
  return Math.max(1, Math.round(messages / BATCH)) * BATCH;
}
