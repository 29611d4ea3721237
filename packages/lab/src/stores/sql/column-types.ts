import { type RawBuilder, sql } from 'kysely';

/** The types a table is made of, in the words of one database. */
export interface ColumnTypes {
  /** Up to 255 characters, compared byte by byte: `a` and `A` are two ids. */
  readonly id: RawBuilder<unknown>;
  /** Of any length. */
  readonly text: RawBuilder<unknown>;
  /** As long as a message body may be. */
  readonly bytes: RawBuilder<unknown>;
}

export const sqliteColumns = { id: sql`text`, text: sql`text`, bytes: sql`blob` } satisfies ColumnTypes;

/** MySQL's own collation takes `a` and `A` for the same; and only a text with a length can be a key. */
export const mysqlColumns = {
  id: sql`varchar(255) character set utf8mb4 collate utf8mb4_bin`,
  text: sql`longtext character set utf8mb4 collate utf8mb4_bin`,
  bytes: sql`longblob`,
} satisfies ColumnTypes;

export const postgresColumns = {
  id: sql`varchar(255) collate "C"`,
  text: sql`text`,
  bytes: sql`bytea`,
} satisfies ColumnTypes;
