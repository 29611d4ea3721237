import type { ContenderName } from '../contenders/load-contender.js';
import { NANOSECONDS_PER_SECOND } from '../lab.js';
import type { Trial } from '../stage.js';
import type { Figures, Measurement, Side } from './measurement.js';
import { verifyReceived, verifyWaiting } from './verify.js';

/**
 * How fast a consumer works off what has piled up, with nobody sending meanwhile. Consumers start cold: nothing can be
 * handled before the backlog is. Batch and concurrency are those of the end-to-end lines.
 */
const BATCH = 500;
const CONCURRENCY = 100;

export const drain = {
  name: 'drain',
  sides: {
    weir: side('weir-stream-group', 'weir stream-group'),
    bullmq: side('bullmq', 'BullMQ 6.7'),
  },
  lines: [
    {
      name: 'drain-vs-bullmq',
      item: 'c',
      figure: 'messagesPerSecond',
      side: 'weir',
      baseline: 'bullmq',
      target: 12,
      better: 'higher',
      conditions:
        `a backlog, batch ${BATCH} against concurrency ${CONCURRENCY}, ` +
        'from the start of a consumer to the last message handled',
    },
  ],
} satisfies Measurement;

function side(contender: ContenderName, label: string): Side {
  return { label, messages: 50_000, play: (trial, count) => play(trial, contender, count) };
}

async function play(trial: Trial, contender: ContenderName, messages: number): Promise<Figures> {
  const sender = await trial.startSender({ contender });
  await sender.call('send', { from: 0, count: messages, bulk: 500, bulksInFlight: 4, makeBodies: 'before' });
  await verifyWaiting(sender, messages);
  const receiver = await trial.startReceiver({
    ...{ contender, batch: BATCH, concurrency: CONCURRENCY },
    ...{ capacity: messages, tellEach: false },
  });
  const [{ atNs }, { startedNs }] = await Promise.all([
    receiver.call('reach', { total: messages }),
    receiver.call('start', undefined),
  ]);
  await verifyReceived(receiver, messages);
  return { messagesPerSecond: (messages * NANOSECONDS_PER_SECOND) / (atNs - startedNs) };
}
