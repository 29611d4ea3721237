/**
 * Writes schema/result.schema.json from the schema in the code, so that the two cannot disagree. Build first:
 * it reads dist. A unit test fails while the file is stale.
 */
import { writeFile } from 'node:fs/promises';
import { resultJsonSchema } from '../dist/measure/result.js';

const target = new URL('../schema/result.schema.json', import.meta.url);
await writeFile(target, `${JSON.stringify(resultJsonSchema(), null, 2)}\n`);
