import type { ContenderName } from '../contenders/load-contender.js';
import { NANOSECONDS_PER_SECOND, type TypedWorker } from '../lab.js';
import type { ReceiverApi, SendReport } from '../processes/api.js';
import type { Trial } from '../stage.js';
import type { Figures, LineDefinition, Measurement, Side } from './measurement.js';
import { verifyReceived, verifyWaiting } from './verify.js';

/**
 * What a pattern's producer costs beyond calling the client: envelope, counters, an outcome per message. The bare
 * side sends one command per message, all of a bulk in one pipeline.
 */
const BULK = 500;
const BULKS_IN_FLIGHT = 8;
const WARM_UP = 0.1;
const MESSAGES = 200_000;

const PATTERNS = {
  queue: { weir: 'weir-queue', bare: 'bare-list', command: 'LPUSH', subscribers: 0 },
  'stream-xread': { weir: 'weir-stream-xread', bare: 'bare-stream', command: 'XADD', subscribers: 0 },
  'stream-group': { weir: 'weir-stream-group', bare: 'bare-stream', command: 'XADD', subscribers: 0 },
  pubsub: { weir: 'weir-pubsub', bare: 'bare-channel', command: 'PUBLISH', subscribers: 1 },
} as const satisfies Record<string, ProducedPattern>;

interface ProducedPattern {
  readonly weir: ContenderName;
  readonly bare: ContenderName;
  readonly command: string;
  /** A channel without a subscriber costs Redis nothing, so pub/sub has one: the same bare one on both sides. */
  readonly subscribers: 0 | 1;
}

/** One measurement a pattern, so that the two trials of a comparison are neighbours in time. */
export const produce: readonly Measurement[] = Object.entries(PATTERNS).map(([pattern, produced]) => ({
  name: `produce-${pattern}`,
  sides: {
    weir: side(produced.weir, `weir ${pattern}`, produced),
    bare: side(produced.bare, `bare ${produced.command}`, produced),
  },
  lines: [line(pattern, produced)],
}));

function line(pattern: string, { command, subscribers }: ProducedPattern): LineDefinition {
  const listening = subscribers > 0 ? ', one subscriber' : '';
  return {
    name: `produce-${pattern}-vs-bare-client`,
    item: 'd',
    figure: 'messagesPerSecond',
    side: 'weir',
    baseline: 'bare',
    target: 0.8,
    better: 'higher',
    conditions:
      `only sending, bulks of ${BULK}, ${BULKS_IN_FLIGHT} in flight${listening}, first send to last acknowledgement; ` +
      `bare: a pipeline with one ${command} per message`,
  };
}

function side(contender: ContenderName, label: string, { bare, subscribers }: ProducedPattern): Side {
  return {
    label,
    messages: MESSAGES,
    play: (trial, count) => play(trial, contender, subscribers > 0 ? bare : undefined, count),
  };
}

async function play(
  trial: Trial,
  contender: ContenderName,
  subscriber: ContenderName | undefined,
  messages: number,
): Promise<Figures> {
  const warmUp = Math.round(messages * WARM_UP);
  const total = warmUp + messages;
  const sender = await trial.startSender({ contender });
  const receiver = subscriber && (await startSubscriber(trial, subscriber, total));
  const sendAll = async (): Promise<SendReport> => {
    const load = { bulk: BULK, bulksInFlight: BULKS_IN_FLIGHT, makeBodies: 'before' } as const;
    await sender.call('send', { ...load, from: 0, count: warmUp });
    return sender.call('send', { ...load, from: warmUp, count: messages });
  };
  const [{ firstSendNs, lastAcknowledgedNs }] = await Promise.all([
    sendAll(),
    receiver?.call('reach', { total }),
  ]);
  await (receiver ? verifyReceived(receiver, total) : verifyWaiting(sender, total));
  return { messagesPerSecond: (messages * NANOSECONDS_PER_SECOND) / (lastAcknowledgedNs - firstSendNs) };
}

async function startSubscriber(
  trial: Trial,
  contender: ContenderName,
  capacity: number,
): Promise<TypedWorker<ReceiverApi>> {
  const receiver = await trial.startReceiver({
    ...{ contender, batch: 1, concurrency: 1 },
    ...{ capacity, tellEach: false },
  });
  await receiver.call('start', undefined);
  return receiver;
}
