import type { Sender } from '../contenders/contender.js';
import { loadContender } from '../contenders/load-contender.js';
import { monotonicNs, serveWorker } from '../lab.js';
import type { HandledEvent, Load, SenderApi } from './api.js';
import { bodies } from './bodies.js';

/** The process that sends: one contender, one trial. */
serveWorker((): SenderApi => {
  let opened: Sender | undefined;
  let wake = (_event: HandledEvent): void => undefined;

  const sender = (): Sender => {
    if (opened === undefined) throw new Error('prepare comes first');
    return opened;
  };

  return {
    async prepare({ contender, url }) {
      opened = await (await loadContender(contender)).openSender(url);
    },
    async send(load) {
      const { send } = sender();
      const bulks = bulksOf(load);
      const lane = async (): Promise<void> => {
        for (let bulk = bulks.next(); bulk.done !== true; bulk = bulks.next()) await send(bulk.value);
      };
      const firstSendNs = monotonicNs();
      await Promise.all(Array.from({ length: load.bulksInFlight }, lane));
      return { firstSendNs, lastAcknowledgedNs: monotonicNs() };
    },
    async sendOneByOne({ from, count }) {
      const { send } = sender();
      const latenciesNs: number[] = [];
      for (let sequence = from; sequence < from + count; sequence++) {
        const body = bodies(sequence, 1);
        const handled = new Promise<HandledEvent>((resolve) => {
          wake = resolve;
        });
        const sentNs = monotonicNs();
        const [{ atNs }] = await Promise.all([handled, send(body)]);
        latenciesNs.push(atNs - sentNs);
      }
      return { latenciesNs };
    },
    handled: (event) => wake(event),
    waiting: () => sender().waiting(),
    memory: () => ({ rssBytes: process.memoryUsage.rss() }),
  };
});

/** @returns the bulks one after the other, shared by all lanes */
function bulksOf({ from, count, bulk, makeBodies }: Load): Iterator<string[], undefined> {
  const made = makeBodies === 'before' ? bodies(from, count) : undefined;
  return (function* (): Generator<string[], undefined> {
    for (let start = 0; start < count; start += bulk) {
      const size = Math.min(bulk, count - start);
      yield made?.slice(start, start + size) ?? bodies(from + start, size);
    }
  })();
}
