import type { ContenderName } from '../contenders/load-contender.js';
import { NANOSECONDS_PER_SECOND } from '../lab.js';
import type { Trial } from '../stage.js';
import type { Figures, LineDefinition, Measurement, Side } from './measurement.js';
import { verifyReceived, verifyWaiting } from './verify.js';

/**
 * How fast a consumer works off what has piled up, with nobody sending meanwhile. Consumers start cold: nothing can be
 * handled before the backlog is. stream-group is shown with both batches that can be held against a concurrency of 100:
 * as many messages in work at a time as BullMQ has, and the batch of the end-to-end lines.
 */
const CONCURRENCY = 100;
const EQUAL_BATCH = 100;
const END_TO_END_BATCH = 500;

export const drain = {
  name: 'drain',
  sides: {
    'weir-equal': side('weir-stream-group', `weir stream-group, batch ${EQUAL_BATCH}`, EQUAL_BATCH),
    'weir-large': side('weir-stream-group', `weir stream-group, batch ${END_TO_END_BATCH}`, END_TO_END_BATCH),
    bullmq: side('bullmq', 'BullMQ 6.7', EQUAL_BATCH),
  },
  lines: [line(EQUAL_BATCH, 'weir-equal'), line(END_TO_END_BATCH, 'weir-large')],
} satisfies Measurement;

function line(batch: number, weirSide: string): LineDefinition {
  return {
    name: `drain-batch-${batch}-vs-bullmq`,
    item: 'c',
    figure: 'messagesPerSecond',
    side: weirSide,
    baseline: 'bullmq',
    target: 12,
    better: 'higher',
    conditions:
      `a backlog, batch ${batch} against concurrency ${CONCURRENCY}, ` +
      'from the start of a consumer to the last message handled',
  };
}

function side(contender: ContenderName, label: string, batch: number): Side {
  return { label, messages: 50_000, play: (trial, count) => play(trial, contender, batch, count) };
}

async function play(
  trial: Trial,
  contender: ContenderName,
  batch: number,
  messages: number,
): Promise<Figures> {
  const sender = await trial.startSender({ contender });
  await sender.call('send', { from: 0, count: messages, bulk: 500, bulksInFlight: 4, makeBodies: 'before' });
  await verifyWaiting(sender, messages);
  const receiver = await trial.startReceiver({
    ...{ contender, batch, concurrency: CONCURRENCY },
    ...{ capacity: messages, tellEach: false },
  });
  const [{ atNs }, { startedNs }] = await Promise.all([
    receiver.call('reach', { total: messages }),
    receiver.call('start', undefined),
  ]);
  await verifyReceived(receiver, messages);
  return { messagesPerSecond: (messages * NANOSECONDS_PER_SECOND) / (atNs - startedNs) };
}
