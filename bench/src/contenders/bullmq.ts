import { Queue, Worker } from 'bullmq';
import { type Contender, KEY } from './contender.js';
import { endTrial } from './end-trial.js';

/**
 * BullMQ, https://docs.bullmq.io. Redis commands: Lua scripts over lists, sorted sets, a hash per job and an event
 * stream. Does much that weir does not: priorities, delays, job state, progress, events for every step.
 *
 * Its fastest documented settings: `addBulk`, jobs removed when done (set at the worker, so that no job carries
 * options), no metrics, no telemetry.
 */
export const bullmq = {
  name: 'BullMQ 6.7',
  async openSender(url) {
    const queue = new Queue(KEY, { connection: { url, maxRetriesPerRequest: null } });
    await queue.waitUntilReady();
    return {
      async send(bodies) {
        await queue.addBulk(bodies.map((data) => ({ name: 'm', data })));
      },
      waiting: () => queue.getWaitingCount(),
    };
  },
  async openReceiver(url, { concurrency }) {
    let handle = (_body: string): void => undefined;
    const worker = new Worker<string>(KEY, async ({ data }) => handle(data), {
      connection: { url, maxRetriesPerRequest: null },
      concurrency,
      autorun: false,
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    });
    worker.on('error', endTrial);
    worker.on('failed', (_job, error) => endTrial(error));
    await worker.waitUntilReady();
    return {
      async start(handler) {
        handle = handler;
        worker.run().catch(endTrial);
      },
    };
  },
} satisfies Contender;
