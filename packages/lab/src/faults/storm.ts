import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.js';

const ROUNDS = 10;

/**
 * Everything at once, again and again: in each round a consumer is killed, Redis is restarted and the replies to a send
 * and to a read are lost. It takes long, so it is not part of the matrix; give it a load that lasts:
 * `--faults storm --rate 2000 --messages 30000 --consumers 3`.
 */
export const storm = {
  name: 'storm',
  summary: `${ROUNDS} rounds of a killed consumer, a restarted Redis and lost replies`,
  kind: 'redis-process',
  points: ['after-read'],
  persistence: ['always'],
  needsOwnServer: true,
  strikes: ROUNDS * 3,
  onlyByName: true,
  async strike({ consumer, server, proxy, commands, settings, release }) {
    release();
    for (let round = 0; round < ROUNDS; round++) {
      consumer.signal('SIGKILL');
      await consumer.exited;
      await Promise.all([consumer.restart(), server.restart()]);
      const wanted = [commands.send[0], commands.receive[0]].filter((command) => command !== undefined);
      const lost = Promise.all(wanted.map((command) => proxy.loseReply({ command })));
      await Promise.race([lost, delay(settings.outageMs)]);
    }
  },
} satisfies Fault;
