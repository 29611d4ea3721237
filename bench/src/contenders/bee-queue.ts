import Queue from 'bee-queue';
import { type Contender, KEY } from './contender.js';
import { endTrial } from './end-trial.js';

/**
 * bee-queue, https://github.com/bee-queue/bee-queue. Redis commands: a Lua script per job over a hash and lists,
 * BRPOPLPUSH. Does what weir's queue patterns do not: results, progress, job ids that are looked up.
 *
 * Its fastest documented settings ("Optimizing for performance" in its README): `saveAll`, no events in either
 * direction, no job objects kept in the process, no delayed jobs, jobs removed when done.
 */
const LEAN = { getEvents: false, sendEvents: false, storeJobs: false, activateDelayedJobs: false };

export const beeQueue = {
  name: 'bee-queue 2',
  async openSender(url) {
    const queue = new Queue<string>(KEY, { ...LEAN, redis: { url }, isWorker: false });
    await queue.ready();
    return {
      async send(bodies) {
        const failures = await queue.saveAll(bodies.map((body) => queue.createJob(body)));
        const [failure] = failures.values();
        if (failure !== undefined) throw failure;
      },
      waiting: async () => (await queue.checkHealth()).waiting,
    };
  },
  async openReceiver(url, { concurrency }) {
    const queue = new Queue<string>(KEY, {
      ...LEAN,
      redis: { url },
      removeOnSuccess: true,
      removeOnFailure: true,
    });
    queue.on('error', endTrial);
    await queue.ready();
    return {
      async start(handle) {
        queue.process(concurrency, async ({ data }) => handle(data));
      },
    };
  },
} satisfies Contender;
