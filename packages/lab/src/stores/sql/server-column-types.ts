import { sql } from 'kysely';
import type { ColumnTypes } from './column-types.js';

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
