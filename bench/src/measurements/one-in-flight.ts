import type { ContenderName } from '../contenders/load-contender.js';
import { median } from '../median.js';
import type { Trial } from '../stage.js';
import type { Figures, Measurement, Side } from './measurement.js';
import { verifyReceived } from './verify.js';

/**
 * What a single message takes from the call of `send` to its handler when nothing else is going on. The next is sent
 * when the one before was handled and acknowledged; how the sender learns of that is not in the time.
 */
const WARM_UP = 0.2;
const CONCURRENCY = 100;

export const oneInFlight = {
  name: 'one-in-flight',
  sides: {
    weir: side('weir-stream-group', 'weir stream-group'),
    bullmq: side('bullmq', 'BullMQ 6.7'),
  },
  lines: [
    {
      name: 'one-in-flight-p50-vs-bullmq',
      item: 'c',
      figure: 'p50Ms',
      side: 'weir',
      baseline: 'bullmq',
      target: 1,
      better: 'lower',
      conditions: 'one message in flight at a time, p50 of the time from send to handled',
    },
  ],
} satisfies Measurement;

function side(contender: ContenderName, label: string): Side {
  return { label, messages: 2_000, play: (trial, count) => play(trial, contender, count) };
}

async function play(trial: Trial, contender: ContenderName, messages: number): Promise<Figures> {
  const warmUp = Math.round(messages * WARM_UP);
  const capacity = warmUp + messages;
  const [receiver, sender] = await Promise.all([
    trial.startReceiver({ contender, batch: 500, concurrency: CONCURRENCY, capacity, tellEach: true }),
    trial.startSender({ contender }),
  ]);
  receiver.worker.on('handled', (event) => sender.worker.tell('handled', event));
  await receiver.call('start', undefined);
  await sender.call('sendOneByOne', { from: 0, count: warmUp });
  const { latenciesNs } = await sender.call('sendOneByOne', { from: warmUp, count: messages });
  await verifyReceived(receiver, capacity);
  return { p50Ms: median(latenciesNs) / 1e6 };
}
