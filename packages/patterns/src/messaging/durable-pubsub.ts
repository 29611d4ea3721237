import { deadLettersOf } from './internal/dead-letters.js';
import { HintedReader, hintChannel } from './internal/hinted-reader.js';
import { destroyLog, inspectLog, streamLength } from './internal/log-stream.js';
import { consumerSettings, keySettings } from './internal/options.js';
import { ReadingConsumer } from './internal/polling-consumer.js';
import { createProducer, type Medium } from './internal/producer.js';
import type { Run } from './internal/run.js';
import { FIELD } from './internal/streams.js';
import { XreadPoller } from './internal/xread-poller.js';
import type { MessagingPattern } from './pattern.js';

/**
 * A broadcast that waits for its subscribers: a stream per topic, an offset per subscriber (`consumerName`), and
 * pub/sub only to say that something is there.
 *
 * Redis commands: XADD, and one PUBLISH per write on `<key>:hint` behind it; SUBSCRIBE to the hints; XREAD without
 * BLOCK after a hint, or every `blockMs` without one, until a read finds nothing, in one write with the HSET that
 * stores the offset (`<key>:offsets`). No read blocks, so none needs a connection of its own: the reads of all topics
 * of a process share the client's connection, where `stream-xread` holds one blocked for each.
 *
 * Guarantees, repeats and loses: as `stream-xread`. A hint that is lost only delays: the next read comes after
 * `blockMs` at the latest. The loss of the subscription is counted (`disconnects`) and reading goes on meanwhile.
 */

const NAME = 'durable-pubsub';

const medium = {
  type: 'stream',
  defaultKey: 'redis:durable-pubsub',
  bodiesPerCommand: 1,
  commands: (key, bodies) => [
    ...bodies.map((body) => ['XADD', key, '*', FIELD, body]),
    ['PUBLISH', hintChannel(key), ''],
  ],
  length: streamLength,
} satisfies Medium;

export const durablePubsub = {
  name: NAME,
  summary:
    'a stream per topic with pub/sub as a wake-up hint: every subscriber, in order, also what it missed',
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
    send: [
      { name: 'XADD', per: 'message' },
      { name: 'PUBLISH', per: 'batch' },
    ],
    receive: [{ name: 'XREAD', per: 'batch' }],
    acknowledge: [{ name: 'HSET', per: 'batch' }],
  },
  createProducer: (client, options) => createProducer(client, medium, options),
  createConsumer(client, options) {
    const settings = consumerSettings(options, medium.defaultKey);
    const makePoller = (run: Run, reader: () => HintedReader) =>
      new XreadPoller(client, run, reader, (withinMs) => reader().hinted(withinMs));
    return new ReadingConsumer(client, NAME, settings, makePoller, HintedReader.open);
  },
  inspect: async (client, options) => inspectLog(client, keySettings(options, medium.defaultKey).key),
  destroy: async (client, options) => destroyLog(client, keySettings(options, medium.defaultKey).key),
  deadLetters(client, options) {
    return deadLettersOf(client, keySettings(options, medium.defaultKey).key, medium.type);
  },
} satisfies MessagingPattern;
