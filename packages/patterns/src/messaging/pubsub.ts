import { onChannel } from './internal/channel.js';
import type { Medium } from './internal/producer.js';
import { integerOf } from './internal/streams.js';
import type { MessagingPattern } from './pattern.js';

/**
 * A broadcast: whoever is subscribed at the moment of sending gets the message, and nobody else ever does.
 *
 * Redis commands: PUBLISH; SUBSCRIBE on a connection of its own, with a PING now and then to notice a dead one.
 *
 * Guarantees: order, and every subscriber gets every message while its connection lives. The receipt of a send
 * says how many received it.
 * Loses: everything sent while nobody is subscribed, and everything sent between the loss of a connection and
 * the new subscription (`disconnects` counts those gaps; Redis also cuts subscribers that read too slowly). What
 * arrives while `maxBuffered` messages wait for the handler is dropped and counted, as is a message whose handler
 * throws.
 */

const NAME = 'pubsub';

const medium = {
  type: 'channel',
  defaultKey: 'redis:pubsub',
  bodiesPerCommand: 1,
  commands: (channel, bodies) => bodies.map((body) => ['PUBLISH', channel, body]),
  length: async () => 0,
  receivers: integerOf,
} satisfies Medium;

export const pubsub = {
  name: NAME,
  summary: 'a channel: PUBLISH and SUBSCRIBE; everybody who listens, at most once, nothing is kept',
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
  commands: {
    send: [{ name: 'PUBLISH', per: 'message' }],
    receive: [],
    acknowledge: [],
  },
  ...onChannel(medium, { name: NAME, sharded: false, requires: [] }),
} satisfies MessagingPattern;
