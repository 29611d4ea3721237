import type { Fault } from './fault.js';

/**
 * The consumer reads nothing for a while, and large messages pile up. What waits in a list or stream waits; a subscriber
 * is cut off by the server when its output buffer is full (client-output-buffer-limit).
 */
export const slowConsumer = {
  name: 'slow-consumer',
  summary: 'the consumer reads nothing while large messages pile up; Redis cuts off a subscriber',
  kind: 'overload',
  points: ['after-read'],
  needsOwnServer: true,
  payloadBytes: 128 * 1024,
  async strike({ redis, consumer, settings, loadSent }) {
    await redis.send(['CONFIG', 'SET', 'client-output-buffer-limit', 'pubsub 1mb 1mb 1']);
    consumer.block(settings.outageMs);
    await loadSent();
  },
} satisfies Fault;
