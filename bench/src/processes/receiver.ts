import type { Handle, Receiver } from '../contenders/contender.js';
import { loadContender } from '../contenders/load-contender.js';
import { monotonicNs, serveWorker } from '../lab.js';
import type { HandledEvent, ReceiverApi } from './api.js';
import { Receipts } from './receipts.js';

/** The process that receives: one contender, one trial. */
serveWorker((emit): ReceiverApi => {
  let prepared: { receiver: Receiver; receipts: Receipts; handle: Handle } | undefined;

  const ready = (): NonNullable<typeof prepared> => {
    if (prepared === undefined) throw new Error('prepare comes first');
    return prepared;
  };

  return {
    async prepare({ contender: name, url, batch, concurrency, capacity, tellEach }) {
      const { openReceiver } = await loadContender(name);
      if (openReceiver === undefined) throw new Error(`${name} has no receiver`);
      const receipts = new Receipts(capacity);
      const count: Handle = (body) => receipts.add(body);
      const countAndTell: Handle = (body) => {
        const event: HandledEvent = { atNs: monotonicNs() };
        receipts.add(body);
        emit('handled', event);
      };
      const receiver = await openReceiver(url, { batch, concurrency });
      prepared = { receiver, receipts, handle: tellEach ? countAndTell : count };
    },
    async start() {
      const { receiver, handle } = ready();
      const startedNs = monotonicNs();
      await receiver.start(handle);
      return { startedNs };
    },
    reach: async ({ total }) => ({ atNs: await ready().receipts.reach(total) }),
    report() {
      const { receipts } = ready();
      return { distinct: receipts.distinct, ...receipts.wrong };
    },
    memory: () => ({ rssBytes: process.memoryUsage.rss() }),
  };
});
