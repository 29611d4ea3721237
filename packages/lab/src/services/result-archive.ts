import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { ColumnTypes } from '../stores/sql/column-types.js';
import { openDatabase } from '../stores/sql/databases/open-database.js';
import type { Migrations } from '../stores/sql/migrate-sqlite.js';
import type { PatternResult } from './pattern-result.js';

/** A result with the time it was stored at. */
export type ArchivedResult = PatternResult & { readonly finishedAt: string };

/** Past results of the consumer service, in the database that its messages go to. */
export interface ResultArchive {
  /** @throws {WeirError} STORE_UNREACHABLE or CANNOT_WRITE */
  add(pattern: string, result: PatternResult): Promise<void>;
  /** Newest first. */
  list(pattern: string, limit: number): Promise<ArchivedResult[]>;
  close(): Promise<void>;
}

interface Tables {
  readonly pattern_result: {
    readonly id: string;
    readonly pattern: string;
    /** ISO 8601, UTC: sorts by time. */
    readonly finished_at: string;
    readonly json: string;
  };
}

function tables({ id, text }: ColumnTypes): Migrations {
  return {
    name: 'pattern_result',
    steps: {
      '0001-pattern-result': {
        up: async (database: Kysely<unknown>) => {
          await database.schema
            .createTable('pattern_result')
            .addColumn('id', id, (column) => column.primaryKey().notNull())
            .addColumn('pattern', id, (column) => column.notNull())
            .addColumn('finished_at', id, (column) => column.notNull())
            .addColumn('json', text, (column) => column.notNull())
            .execute();
        },
      },
    },
  };
}

/**
 * Opens the archive beside a message store.
 * @param address of the store; of one that keeps nothing the results are kept in memory
 */
export async function openResultArchive(address: string, keeps: boolean): Promise<ResultArchive> {
  if (!keeps) return memoryArchive();
  const { kysely, runAll, orFail, close } = await openDatabase<Tables>('--store', address, tables);
  return {
    add: (pattern, result) =>
      runAll([
        kysely.insertInto('pattern_result').values({
          id: randomUUID(),
          pattern,
          finished_at: new Date().toISOString(),
          json: JSON.stringify(result),
        }),
      ]),
    list: async (pattern, limit) => {
      const newest = kysely
        .selectFrom('pattern_result')
        .select(['finished_at', 'json'])
        .where('pattern', '=', pattern)
        .orderBy('finished_at', 'desc')
        .limit(limit);
      const rows = await orFail(newest.execute());
      return rows.map(({ finished_at, json }) => ({ ...JSON.parse(json), finishedAt: finished_at }));
    },
    close,
  };
}

function memoryArchive(): ResultArchive {
  const results = new Map<string, ArchivedResult[]>();
  const of = (pattern: string): ArchivedResult[] => results.get(pattern) ?? [];
  return {
    add: async (pattern, result) => {
      results.set(pattern, [{ ...result, finishedAt: new Date().toISOString() }, ...of(pattern)]);
    },
    list: async (pattern, limit) => of(pattern).slice(0, limit),
    close: async () => undefined,
  };
}
