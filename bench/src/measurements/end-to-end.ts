import type { ContenderName } from '../contenders/load-contender.js';
import { NANOSECONDS_PER_SECOND } from '../lab.js';
import type { Load } from '../processes/api.js';
import type { Trial } from '../stage.js';
import type { Figures, Measurement, Side } from './measurement.js';
import { verifyReceived } from './verify.js';

/**
 * Producer, Redis and consumer at once, as fast as they go: from the first send to the last message handled. Job
 * queues get fewer messages, else they alone would take the time of the bench; the rate does not depend on it.
 */
const BATCH = 500;
const CONCURRENCY = 100;
const BULKS_IN_FLIGHT = 8;
/** Share of the measured messages that goes through the same processes before, unmeasured. */
const WARM_UP = 0.1;
const CONDITIONS = `bulks of ${BATCH}, ${BULKS_IN_FLIGHT} in flight, from the first send to the last message handled`;

export const endToEnd = {
  name: 'end-to-end',
  sides: {
    weir: side('weir-stream-group', 'weir stream-group', 200_000),
    bare: side('bare-stream', 'bare client', 200_000),
    'weir-reliable-queue': side('weir-reliable-queue', 'weir reliable-queue', 200_000),
    'bare-list': side('bare-reliable-list', 'bare client', 200_000),
    bullmq: side('bullmq', 'BullMQ 6.7', 20_000),
    'bee-queue': side('bee-queue', 'bee-queue 2', 20_000),
  },
  lines: [
    {
      name: 'stream-group-vs-bare-client',
      item: 'a',
      figure: 'messagesPerSecond',
      side: 'weir',
      baseline: 'bare',
      target: 0.8,
      better: 'higher',
      conditions: `${CONDITIONS}; both read ${BATCH} at a time`,
    },
    {
      name: 'stream-group-vs-bullmq',
      item: 'b',
      figure: 'messagesPerSecond',
      side: 'weir',
      baseline: 'bullmq',
      target: 10,
      better: 'higher',
      conditions: `${CONDITIONS}; batch ${BATCH} against concurrency ${CONCURRENCY}`,
    },
    {
      name: 'stream-group-vs-bee-queue',
      item: 'b',
      figure: 'messagesPerSecond',
      side: 'weir',
      baseline: 'bee-queue',
      target: 6,
      better: 'higher',
      conditions: `${CONDITIONS}; batch ${BATCH} against concurrency ${CONCURRENCY}`,
    },
    {
      name: 'reliable-queue-vs-bare-client',
      item: 'i',
      figure: 'messagesPerSecond',
      side: 'weir-reliable-queue',
      baseline: 'bare-list',
      target: 0.5,
      better: 'higher',
      conditions: `${CONDITIONS}; both move ${BATCH} at a time`,
    },
  ],
} satisfies Measurement;

function side(contender: ContenderName, label: string, messages: number): Side {
  return { label, messages, play: (trial, count) => play(trial, contender, count) };
}

async function play(trial: Trial, contender: ContenderName, messages: number): Promise<Figures> {
  const warmUp = Math.round(messages * WARM_UP);
  const capacity = warmUp + messages;
  const [receiver, sender] = await Promise.all([
    trial.startReceiver({ contender, batch: BATCH, concurrency: CONCURRENCY, capacity, tellEach: false }),
    trial.startSender({ contender }),
  ]);
  await receiver.call('start', undefined);
  const run = async (from: number, count: number) => {
    const load: Load = { from, count, bulk: BATCH, bulksInFlight: BULKS_IN_FLIGHT, makeBodies: 'before' };
    const [{ atNs }, { firstSendNs }] = await Promise.all([
      receiver.call('reach', { total: from + count }),
      sender.call('send', load),
    ]);
    return (count * NANOSECONDS_PER_SECOND) / (atNs - firstSendNs);
  };
  await run(0, warmUp);
  const messagesPerSecond = await run(warmUp, messages);
  await verifyReceived(receiver, capacity);
  return { messagesPerSecond };
}
