import {
  BatchError,
  type Consumer,
  type HandlerContext,
  type Message,
  type MessagingPattern,
} from '@weir/patterns';
import { loadPatterns } from '../core/load-patterns.js';
import { monotonicNs } from '../measure/clock.js';
import { connectClient } from '../redis/clients.js';
import { saveMessages } from '../services/save-messages.js';
import { resolveStore } from '../stores/load-stores.js';
import type { MessageStore } from '../stores/message-store.js';
import type { FaultConsumerApi, FaultConsumerSettings, HandledMessage } from './fault-api.js';
import { Misbehaviour, TrapDoor } from './fault-handler.js';
import { intendedTime } from './payload.js';
import { serveWorker } from './worker-channel.js';

/** Error messages kept for the report. */
const KEPT_ERRORS = 20;
/** How long an orderly end may take, in milliseconds. */
const SHUTDOWN_MS = 5000;

serveWorker((emit): FaultConsumerApi => {
  let opened: Opened | undefined;
  let consumer: Consumer | undefined;
  const errors: string[] = [];

  const required = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('prepare comes first');
    return value;
  };
  /** Saves, tells, and refuses what it is to refuse: the effects come first, as in a service. */
  const handle = async (messages: readonly Message[], context: HandlerContext): Promise<void> => {
    const { settings, pattern, store, trap, misbehaviour } = required(opened);
    await trap.pass('after-read', messages);
    misbehaviour.useStore();
    const failures = misbehaviour.failures(
      messages,
      pattern.capabilities.onHandlerError === 'retry-in-place',
    );
    // A handler that keeps the offset commits all or throws.
    if (failures.size > 0 && context.offset !== undefined) throw [...failures.values()][0];
    const accepted = messages.filter((_, index) => !failures.has(index));
    if (accepted.length > 0) {
      await saveMessages(store, settings.pattern, accepted, context);
      await emit('handled', accepted.map(handledMessage));
    }
    await trap.pass('after-handling', messages);
    if (failures.size > 0) throw new BatchError(failures);
  };

  // The runner's own signal for the end is a message; this one is the user's, and a fault.
  process.once('SIGTERM', () => {
    const stopping = consumer?.stop({ deadlineMs: SHUTDOWN_MS }) ?? Promise.resolve();
    void stopping.then(() => required(opened).close()).finally(() => process.disconnect());
  });

  return {
    async prepare(settings) {
      opened = await open(settings, () => emit('trapped', undefined));
    },
    async start({ from }) {
      const { settings, pattern, client, store } = required(opened);
      consumer = pattern.createConsumer(client, {
        ...settings.options,
        from,
        ...(settings.offsetInStore ? { offset: { load: (reader: string) => store.loadOffset(reader) } } : {}),
        onError: (error) => {
          if (errors.length < KEPT_ERRORS) errors.push(error.message);
        },
      });
      await consumer.start(handle);
    },
    release() {
      required(opened).trap.release();
    },
    mend() {
      required(opened).misbehaviour.mend();
    },
    setStoreDown({ isDown }) {
      required(opened).misbehaviour.setStoreDown(isDown);
    },
    block({ forMs }) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs);
    },
    async stop(options) {
      const { drained, unfinished } = await required(consumer).stop(options);
      return { drained, unfinished };
    },
    counters() {
      return required(consumer).counters();
    },
    errors() {
      return errors;
    },
  };
});

interface Opened {
  readonly settings: FaultConsumerSettings & { readonly options: ConsumerTuning };
  readonly pattern: MessagingPattern;
  readonly client: Awaited<ReturnType<typeof connectClient>>['client'];
  readonly store: MessageStore;
  readonly trap: TrapDoor;
  readonly misbehaviour: Misbehaviour;
  close(): Promise<void>;
}

type ConsumerTuning = Pick<
  FaultConsumerSettings,
  'key' | 'batch' | 'consumerName' | 'blockMs' | 'leaseMs' | 'retryDelaysMs'
>;

async function open(settings: FaultConsumerSettings, onTrapped: () => Promise<void>): Promise<Opened> {
  const pattern = (await loadPatterns()).get(settings.pattern);
  if (pattern === undefined) throw new Error(`there is no pattern ${settings.pattern}`);
  const store = await (await resolveStore(settings.store)).open(settings.store);
  const connection = await connectClient(settings.client, settings.url, { name: 'weir-consumer' });
  const { key, batch, consumerName, blockMs, leaseMs, retryDelaysMs } = settings;
  return {
    settings: { ...settings, options: { key, batch, consumerName, blockMs, leaseMs, retryDelaysMs } },
    pattern,
    client: connection.client,
    store,
    trap: new TrapDoor(settings, onTrapped),
    misbehaviour: new Misbehaviour(settings),
    async close() {
      await store.close();
      await connection.close();
    },
  };
}

function handledMessage({ producer, sequence, attempt, body }: Message): HandledMessage {
  return {
    producer,
    sequence,
    attempt,
    sentNs: intendedTime(body),
    handledNs: monotonicNs(),
    bytes: body.length,
  };
}
