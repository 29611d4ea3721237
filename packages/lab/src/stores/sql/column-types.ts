import type { RawBuilder } from 'kysely';

/** As Kysely's `addColumn` takes it. */
type ColumnType = 'text' | 'blob' | RawBuilder<unknown>;

/** The types a table is made of, in the words of one database. */
export interface ColumnTypes {
  /** Up to 255 characters, compared byte by byte: `a` and `A` are two ids. */
  readonly id: ColumnType;
  /** Of any length. */
  readonly text: ColumnType;
  /** As long as a message body may be. */
  readonly bytes: ColumnType;
}

export const sqliteColumns = { id: 'text', text: 'text', bytes: 'blob' } as const satisfies ColumnTypes;
