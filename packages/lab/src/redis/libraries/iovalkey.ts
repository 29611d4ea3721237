import { iovalkey as adapter } from '@weir/patterns/client/iovalkey';
import { Valkey } from 'iovalkey';
import { connectFamily } from './ioredis-family.js';
import type { Library } from './library.js';

/** iovalkey, https://github.com/valkey-io/iovalkey. Automatic pipelining is off unless asked for, as the library has it. */
export const iovalkey = {
  name: 'iovalkey',
  connect: (url, options) => connectFamily((settings) => new Valkey(url, settings), adapter, options),
} as const satisfies Library;
