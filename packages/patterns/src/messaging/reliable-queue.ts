import { deadLettersOf } from './internal/dead-letters.js';
import { listMedium } from './internal/list-medium.js';
import { consumerSettings, keySettings } from './internal/options.js';
import { PollingConsumer } from './internal/polling-consumer.js';
import { createProducer } from './internal/producer.js';
import { ReliableQueuePoller } from './internal/reliable-queue/poller.js';
import { destroyQueue, inspectQueue } from './internal/reliable-queue/state.js';
import type { MessagingPattern } from './pattern.js';

/**
 * A work queue on a list that loses nothing: a message that is taken moves, in one step, to a processing list of the
 * consumer, and is removed from there when it has been handled.
 *
 * Redis commands: LPUSH (many bodies in one call); BLMOVE for the first message of a batch and, in the same write, a
 * script for the others; a script that removes what was handled, in one write with the next BLMOVE, so that it costs
 * no round trip. Scripts need no more than Redis 6.2. In a Redis Cluster the key needs a hash tag (`{orders}`), because
 * the keys of a queue have to lie in one slot.
 *
 * Keys: `<key>` (the queue), `<key>:processing:<group>:<consumer>`, `<key>:leases` (who lives, until when),
 * `<key>:attempts` (attempts that ended with their process; usually absent), `<key>:dead` (dead letters, a stream).
 * All consumers share the queue: `group` only tells consumers of the same name apart. The option `from` has no meaning
 * here: what waits in the list is what is new.
 *
 * Guarantees: nothing that Redis acknowledged is lost. Each consumer has a lease, renewed while its handler works. When
 * it runs out, any other consumer gives what the silent one held back to the head of the queue, in one step; a removal
 * by the silent one that comes after that does not count (`fenced`). At the start and after every reconnect a consumer
 * gives back what lies in its own processing list and is not in its hands, before it takes new work. A message whose
 * handler throws is tried again after each retry delay while others go on, then moved to the dead letters in one step;
 * a batch that fails as a whole is retried message by message, so a poison message takes no neighbour with it. A
 * message that takes its process down counts attempts too.
 * Repeats: what was handled and not yet removed when the process died or lost its lease (up to `batch`).
 * Loses: what Redis itself loses (see its persistence), and order, once there are retries or several consumers.
 */

const NAME = 'reliable-queue';

const medium = listMedium('redis:reliable-queue');

export const reliableQueue = {
  name: NAME,
  summary: 'a list with a processing list per consumer: LPUSH, BLMOVE; at least once, takeover, dead letters',
  defaultKey: medium.defaultKey,
  capabilities: {
    delivery: 'at-least-once',
    persistence: true,
    ordering: 'none',
    fanOut: false,
    competingConsumers: true,
    replay: true,
    onHandlerError: 'retry-then-dead-letter',
    takeover: true,
  },
  commands: {
    send: [{ name: 'LPUSH', per: 'batch' }],
    receive: [
      { name: 'BLMOVE', per: 'batch' },
      { name: 'EVAL', per: 'batch' },
    ],
    acknowledge: [{ name: 'EVAL', per: 'batch' }],
  },
  createProducer: (client, options) => createProducer(client, medium, options),
  createConsumer(client, options) {
    const settings = consumerSettings(options, medium.defaultKey);
    return new PollingConsumer(
      client,
      NAME,
      settings,
      (run, reader) => new ReliableQueuePoller(client, run, reader),
    );
  },
  inspect: (client, options) => inspectQueue(client, keySettings(options, medium.defaultKey).key),
  deadLetters: (client, options) =>
    deadLettersOf(client, keySettings(options, medium.defaultKey).key, medium.type),
  destroy: (client, options) => destroyQueue(client, keySettings(options, medium.defaultKey).key),
} satisfies MessagingPattern;
