import type { RedisCommand } from '../../client/redis-client.js';
import { namingForeignKey } from './foreign-key.js';
import type { Medium } from './producer.js';
import { integerOf } from './streams.js';

/** Bodies in one LPUSH. Its reply is one number for all of them, so all share one fate. */
const BODIES_PER_PUSH = 500;

/** A list as the medium of a producer: pushed on the left, so that the oldest message is on the right. */
export function listMedium(defaultKey: string) {
  return {
    type: 'list',
    defaultKey,
    bodiesPerCommand: BODIES_PER_PUSH,
    commands(key, bodies) {
      const commands: RedisCommand[] = [];
      for (let start = 0; start < bodies.length; start += BODIES_PER_PUSH) {
        commands.push(['LPUSH', key, ...bodies.slice(start, start + BODIES_PER_PUSH)]);
      }
      return commands;
    },
    length: async (client, key) =>
      namingForeignKey(client, key, 'list', async () => integerOf(await client.send(['LLEN', key]))),
  } satisfies Medium;
}
