import { setTimeout as delay } from 'node:timers/promises';
import type { Fault } from './fault.js';

/**
 * Redis carries a command out and its reply is lost with the connection: once for what the producer sends, once for what
 * the consumer reads with. A pop has happened then, and nobody knows.
 */
export const replyLost = {
  name: 'reply-lost',
  summary: 'the reply to a send and the reply to a read are lost with their connections',
  kind: 'connection',
  points: ['after-read', 'after-handling', 'while-draining', 'mid-pipeline'],
  async strike({ proxy, commands, settings, release }) {
    const wanted = [commands.send[0], commands.receive[0]].filter((command) => command !== undefined);
    const lost = Promise.all(wanted.map((command) => proxy.loseReply({ command })));
    release();
    // A consumer that is pushed to reads with no command, and at the end of a load nothing is sent any more.
    await Promise.race([lost, delay(settings.outageMs)]);
  },
} satisfies Fault;
