import { deadLettersOf } from './internal/dead-letters.js';
import { destroyLog, inspectLog, streamLength } from './internal/log-stream.js';
import { consumerSettings, keySettings } from './internal/options.js';
import { PollingConsumer } from './internal/polling-consumer.js';
import { createProducer, type Medium } from './internal/producer.js';
import { FIELD } from './internal/streams.js';
import { XreadPoller } from './internal/xread-poller.js';
import type { MessagingPattern } from './pattern.js';

/**
 * A log that every consumer reads for itself: each keeps its own offset and sees all messages, in order.
 *
 * Redis commands: XADD; XREAD BLOCK from the offset, in one write with the HSET that stores how far the batch before
 * has brought it (`<key>:offsets`, one field for each consumer name). Once a second XRANGE and XINFO STREAM look for
 * entries that were trimmed unread, or lost.
 *
 * Guarantees: order; nothing that Redis acknowledged and kept is skipped, whatever happens to connections and
 * processes. A consumer that is started again goes on behind its stored offset. A message whose handler throws is
 * tried again in place after each retry delay, which holds up those behind it, and then goes to the dead letters
 * (`<key>:dead`); only when it is there does the offset move. A server that comes back with less than was read is
 * noticed, and the offset set back (`rewinds`).
 * Repeats: after a crash at most a batch; while Redis takes no writes, what was handled since. With `offset: { load }`
 * the handler stores the offset in the transaction of its effects, and no effect is repeated.
 * Loses: entries trimmed before they were read, also while the consumer was away (counted as `trimmed`). With `offset:
 * 'memory'` and `from: 'new'`, what is sent between a stop and the next start.
 */

const NAME = 'stream-xread';

const medium = {
  type: 'stream',
  defaultKey: 'redis:stream:xread',
  bodiesPerCommand: 1,
  commands: (key, bodies) => bodies.map((body) => ['XADD', key, '*', FIELD, body]),
  length: streamLength,
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
    storedOffset: true,
  },
  commands: {
    send: [{ name: 'XADD', per: 'message' }],
    receive: [{ name: 'XREAD', per: 'batch' }],
    acknowledge: [{ name: 'HSET', per: 'batch' }],
  },
  createProducer: (client, options) => createProducer(client, medium, options),
  createConsumer(client, options) {
    const settings = consumerSettings(options, medium.defaultKey);
    return new PollingConsumer(client, NAME, settings, (run, reader) => new XreadPoller(client, run, reader));
  },
  inspect: async (client, options) => inspectLog(client, keySettings(options, medium.defaultKey).key),
  destroy: async (client, options) => destroyLog(client, keySettings(options, medium.defaultKey).key),
  deadLetters(client, options) {
    return deadLettersOf(client, keySettings(options, medium.defaultKey).key, medium.type);
  },
} satisfies MessagingPattern;
