import { ioredis as adapter } from '@weir/patterns/client/ioredis';
import { Redis } from 'ioredis';
import { connectFamily } from './ioredis-family.js';
import type { Library } from './library.js';

/** ioredis, https://github.com/redis/ioredis. Automatic pipelining is off unless asked for, as the library has it. */
export const ioredis = {
  name: 'ioredis',
  connect: (url, options) => connectFamily((settings) => new Redis(url, settings), adapter, options),
} as const satisfies Library;
