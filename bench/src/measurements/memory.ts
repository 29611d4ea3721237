import type { TypedWorker } from '../lab.js';
import type { Load, ReceiverApi, SenderApi } from '../processes/api.js';
import type { Trial } from '../stage.js';
import type { Figures, LineDefinition, Measurement } from './measurement.js';
import { verifyReceived } from './verify.js';

/**
 * Whether producer or consumer keep something of every message: resident memory after all messages have gone
 * through, less that after the first tenth, by when code is compiled and buffers have their size. Garbage is not
 * collected by hand: what a process holds is what its host has to give.
 */
const BATCH = 500;
const FIRST_PART = 0.1;
const BYTES_PER_MB = 1_000_000;
const MOST_GROWTH_MB = 60;

export const memory = {
  name: 'memory',
  sides: { weir: { label: 'weir stream-group', messages: 1_000_000, play } },
  lines: [line('producer', 'senderGrowthMb'), line('consumer', 'receiverGrowthMb')],
} satisfies Measurement;

function line(role: string, figure: LineDefinition['figure']): LineDefinition {
  return {
    name: `memory-growth-${role}`,
    item: 'e',
    figure,
    side: 'weir',
    target: MOST_GROWTH_MB,
    better: 'lower',
    conditions: `RSS of the ${role} after all messages less that after the first tenth; the ratio is in MB; batch ${BATCH}`,
  };
}

async function play(trial: Trial, messages: number): Promise<Figures> {
  const [receiver, sender] = await Promise.all([
    trial.startReceiver({
      ...{ contender: 'weir-stream-group', batch: BATCH, concurrency: 1 },
      ...{ capacity: messages, tellEach: false },
    }),
    trial.startSender({ contender: 'weir-stream-group' }),
  ]);
  await receiver.call('start', undefined);
  const run = async (from: number, to: number): Promise<void> => {
    const load: Load = { from, count: to - from, bulk: BATCH, bulksInFlight: 8, makeBodies: 'during' };
    await Promise.all([receiver.call('reach', { total: to }), sender.call('send', load)]);
  };
  const first = Math.round(messages * FIRST_PART);
  await run(0, first);
  const early = await Promise.all([megabytes(sender), megabytes(receiver)]);
  await run(first, messages);
  const late = await Promise.all([megabytes(sender), megabytes(receiver)]);
  await verifyReceived(receiver, messages);
  return { senderGrowthMb: late[0] - early[0], receiverGrowthMb: late[1] - early[1] };
}

async function megabytes(process: TypedWorker<SenderApi> | TypedWorker<ReceiverApi>): Promise<number> {
  const { rssBytes } = await process.call('memory', undefined);
  return rssBytes / BYTES_PER_MB;
}
