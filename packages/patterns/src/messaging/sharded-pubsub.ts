import { onChannel } from './internal/channel.js';
import type { Medium } from './internal/producer.js';
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
  ...onChannel(medium, { name: NAME, sharded: true, requires: REQUIRES }),
} satisfies MessagingPattern;
