import type { ContenderName } from '../contenders/load-contender.js';
import { NANOSECONDS_PER_SECOND } from '../lab.js';
import type { Load } from '../processes/api.js';
import type { Trial } from '../stage.js';
import type { Figures, Measurement, Side } from './measurement.js';
import { verifyWaiting } from './verify.js';

/**
 * Only sending, in small bulks, one after the other: what a web service does that hands over some work per request.
 */
const BULK = 50;
const WARM_UP = 0.1;

export const enqueue = {
  name: 'enqueue',
  sides: {
    weir: side('weir-stream-group', 'weir stream-group', 100_000),
    bullmq: side('bullmq', 'BullMQ 6.7', 20_000),
  },
  lines: [
    {
      name: 'enqueue-vs-bullmq',
      item: 'c',
      figure: 'messagesPerSecond',
      side: 'weir',
      baseline: 'bullmq',
      target: 5,
      better: 'higher',
      conditions: `only sending, bulks of ${BULK}, one in flight, from the first send to the last acknowledgement`,
    },
  ],
} satisfies Measurement;

function side(contender: ContenderName, label: string, messages: number): Side {
  return { label, messages, play: (trial, count) => play(trial, contender, count) };
}

async function play(trial: Trial, contender: ContenderName, messages: number): Promise<Figures> {
  const warmUp = Math.round(messages * WARM_UP);
  const sender = await trial.startSender({ contender });
  const load: Load = { from: 0, count: warmUp, bulk: BULK, bulksInFlight: 1, makeBodies: 'before' };
  await sender.call('send', load);
  const sent = await sender.call('send', { ...load, from: warmUp, count: messages });
  await verifyWaiting(sender, warmUp + messages);
  return {
    messagesPerSecond: (messages * NANOSECONDS_PER_SECOND) / (sent.lastAcknowledgedNs - sent.firstSendNs),
  };
}
