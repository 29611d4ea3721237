import type { MessagingPattern } from '@weir/patterns';
import { nodeRedis } from '@weir/patterns/client/node-redis';
import { type Contender, KEY } from './contender.js';
import { endTrial } from './end-trial.js';
import { connectNodeRedis } from './node-redis-client.js';

/** A pattern of @weir/patterns with its defaults; the batch is the measurement's. */
export function weir(pattern: MessagingPattern): Contender {
  return {
    name: `weir ${pattern.name}`,
    async openSender(url) {
      const client = nodeRedis(await connectNodeRedis(url));
      const producer = pattern.createProducer(client, { key: KEY });
      return {
        async send(bodies) {
          await producer.send(bodies);
        },
        waiting: async () => (await pattern.inspect(client, { key: KEY })).length,
      };
    },
    async openReceiver(url, { batch }) {
      const client = nodeRedis(await connectNodeRedis(url));
      const consumer = pattern.createConsumer(client, {
        key: KEY,
        batch,
        from: 'beginning',
        onError: endTrial,
      });
      return {
        start: (handle) =>
          consumer.start((messages) => {
            for (const message of messages) handle(message.body);
          }),
      };
    },
  };
}
