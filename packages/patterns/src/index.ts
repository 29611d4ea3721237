/**
 * The contracts and errors. Patterns and adapters are imported from their own paths, so that a service loads
 * only what it uses:
 *
 *     import { streamGroup } from '@weir/patterns/messaging/stream-group';
 *     import { nodeRedis } from '@weir/patterns/client/node-redis';
 */
export * from './client/redis-client.js';
export * from './errors.js';
export * from './messaging/pattern.js';
