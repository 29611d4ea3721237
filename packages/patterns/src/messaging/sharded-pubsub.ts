import { check, consumerSettings, keySettings } from './internal/options.js';
import { createProducer, type Medium } from './internal/producer.js';
import { PubsubConsumer } from './internal/pubsub-consumer.js';
import { integerOf } from './internal/streams.js';
import type { MessagingPattern } from './pattern.js';

/**
 * A broadcast on a sharded channel: as `pubsub`, but in a Redis Cluster a message goes only to the nodes of the shard
 * that holds the slot of its channel, instead of to all nodes. On a single server it does the same as `pubsub`, with
 * channel names of its own: PUBLISH does not reach SSUBSCRIBE.
 *
 * Redis commands: SPUBLISH; SSUBSCRIBE on a connection of its own, with a PING now and then to notice a dead one. Both
 * came with Redis 7.0; a server without them is refused by name.
 *
 * Guarantees and losses: those of `pubsub`. Order, and every subscriber gets every message while its connection lives;
 * what is sent while nobody is subscribed or between two subscriptions is gone (`disconnects` counts those gaps), as is
 * what arrives while `maxBuffered` messages wait (counted), and a message whose handler throws (counted).
 */

const NAME = 'sharded-pubsub';

/** SSUBSCRIBE comes and goes with it. */
const REQUIRES = ['SPUBLISH'];

const medium = {
  type: 'channel',
  defaultKey: 'redis:sharded-pubsub',
  bodiesPerCommand: 1,
  commands: (channel, bodies) => bodies.map((body) => ['SPUBLISH', channel, body]),
  length: async () => 0,
  receivers: integerOf,
  requires: REQUIRES,
} satisfies Medium;

export const shardedPubsub = {
  name: NAME,
  summary: 'a sharded channel: SPUBLISH and SSUBSCRIBE; as pubsub, without traffic to all nodes of a cluster',
  defaultKey: medium.defaultKey,
  capabilities: {
    delivery: 'at-most-once',
    persistence: false,
    ordering: 'total',
    fanOut: true,
    competingConsumers: false,
    replay: false,
    onHandlerError: 'drop',
  },
  requires: REQUIRES,
  commands: {
    send: [{ name: 'SPUBLISH', per: 'message' }],
    receive: [],
    acknowledge: [],
  },
  createProducer(client, options) {
    const { maxLength } = options ?? {};
    check('maxLength', maxLength, maxLength === undefined, 'left out: a channel keeps nothing');
    return createProducer(client, medium, options);
  },
  createConsumer(client, options) {
    const { from } = options ?? {};
    check('from', from, from !== 'beginning', '"new": a channel keeps nothing');
    const settings = consumerSettings(options, medium.defaultKey);
    return new PubsubConsumer(client, settings, { name: NAME, sharded: true, requires: REQUIRES });
  },
  async inspect(_client, options) {
    keySettings(options, medium.defaultKey);
    return { keys: [], unread: 0, pending: 0, deadLettered: 0, length: 0 };
  },
  async destroy(_client, options) {
    keySettings(options, medium.defaultKey);
  },
} satisfies MessagingPattern;
