import type { RedisClient } from '../client/redis-client.js';
import { deadLettersOf } from './internal/dead-letters.js';
import { namingForeignKey, removeOwnKeys } from './internal/foreign-key.js';
import { consumerSettings, keySettings } from './internal/options.js';
import { PollingConsumer } from './internal/polling-consumer.js';
import { createProducer, type Medium } from './internal/producer.js';
import { deadLetterKey, FIELD, integerOf } from './internal/streams.js';
import { XreadPoller } from './internal/xread-poller.js';
import type { MessagingPattern, PatternState } from './pattern.js';

/**
 * A log that every consumer reads for itself: each keeps its own offset and sees all messages, in order.
 *
 * Redis commands: XADD; XREAD BLOCK from an offset that is resolved once at the start and moves to the last id of
 * a batch after its handler has finished. Once a second XINFO STREAM looks for entries that were trimmed unread.
 *
 * Guarantees: order; nothing is skipped while the consumer lives, whatever happens to connections. A message
 * whose handler throws is tried again in place after each retry delay, which holds up those behind it, and then
 * goes to the dead letters (`<key>:dead`); only when it is there does the offset move.
 * Loses: the offset is in memory. A consumer that is started again begins where `from` says, so with `new` it
 * misses what came in between; the entries themselves stay in the stream until somebody trims it. Entries
 * trimmed before they were read are counted (`trimmed`).
 */

const NAME = 'stream-xread';

const medium = {
  type: 'stream',
  defaultKey: 'redis:stream:xread',
  bodiesPerCommand: 1,
  commands: (key, bodies) => bodies.map((body) => ['XADD', key, '*', FIELD, body]),
  length: (client, key) =>
    namingForeignKey(client, key, 'stream', async () => integerOf(await client.send(['XLEN', key]))),
} satisfies Medium;

export const streamXread = {
  name: NAME,
  summary: 'a stream read by offset: XADD and XREAD; every consumer sees every message, in order',
  defaultKey: medium.defaultKey,
  capabilities: {
    delivery: 'at-least-once',
    persistence: true,
    ordering: 'total',
    fanOut: true,
    competingConsumers: false,
    replay: true,
    onHandlerError: 'retry-in-place',
  },
  commands: {
    send: [{ name: 'XADD', per: 'message' }],
    receive: [{ name: 'XREAD', per: 'batch' }],
    acknowledge: [],
  },
  createProducer: (client, options) => createProducer(client, medium, options),
  createConsumer(client, options) {
    const settings = consumerSettings(options, medium.defaultKey);
    return new PollingConsumer(client, NAME, settings, (run, reader) => new XreadPoller(client, run, reader));
  },
  deadLetters(client, options) {
    return deadLettersOf(client, keySettings(options, medium.defaultKey).key, medium.type);
  },
  async inspect(client, options) {
    const { key } = keySettings(options, medium.defaultKey);
    return inspect(client, key);
  },
  async destroy(client, options) {
    const { key } = keySettings(options, medium.defaultKey);
    await removeOwnKeys(client, [key, deadLetterKey(key)], 'stream');
  },
} satisfies MessagingPattern;

/** Redis knows no readers here, so `unread` is 0: how far a consumer is behind, only it can say. */
async function inspect(client: RedisClient, key: string): Promise<PatternState> {
  const length = await medium.length(client, key);
  const deadLettered = await medium.length(client, deadLetterKey(key));
  const keys = [...(length > 0 ? [key] : []), ...(deadLettered > 0 ? [deadLetterKey(key)] : [])];
  return { keys, unread: 0, pending: 0, deadLettered, length };
}
