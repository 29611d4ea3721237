import type { Consumer, Message, MessageHandler, MessagingPattern } from '@weir/patterns';
import { loadPatterns } from '../core/load-patterns.js';
import type { Nanoseconds } from '../core/units.js';
import { monotonicNs } from '../measure/clock.js';
import { ResourceMeter } from '../measure/resources.js';
import { connectClient } from '../redis/clients.js';
import { saveMessages } from '../services/save-messages.js';
import { resolveStore } from '../stores/load-stores.js';
import type { MessageStore } from '../stores/message-store.js';
import type { ConsumerSettings, MessagingConsumerApi } from './messaging-api.js';
import { Recorder } from './recorder.js';
import { serveWorker } from './worker-channel.js';

/** The runner hears of progress this often; the closed loop's window is many times what is handled meanwhile. */
const TELL_EVERY_NS = 2_000_000;
const TELL_TAIL_MS = 10;
/** Error messages kept for the report. */
const KEPT_ERRORS = 10;

serveWorker((emit): MessagingConsumerApi => {
  let settings: ConsumerSettings | undefined;
  let pattern: MessagingPattern | undefined;
  let connection: Awaited<ReturnType<typeof connectClient>> | undefined;
  let store: MessageStore | undefined;
  let consumer: Consumer | undefined;
  let recorder: Recorder | undefined;
  let tail: NodeJS.Timeout | undefined;
  const meter = new ResourceMeter();
  let storeNs = 0;
  let windowBeganNs = 0;
  let startedNs = 0;
  const errors: string[] = [];

  const required = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('prepare comes first');
    return value;
  };

  return {
    async prepare(wanted) {
      settings = wanted;
      pattern = (await loadPatterns()).get(wanted.pattern);
      if (pattern === undefined) throw new Error(`there is no pattern ${wanted.pattern}`);
      recorder = new Recorder(wanted);
      const driver = await resolveStore(wanted.store);
      store = driver.name === 'none' ? undefined : await driver.open(wanted.store);
      connection = await connectClient(wanted.client, wanted.url, { name: 'weir-consumer' });
    },
    async start({ from }) {
      const { key, batch, consumerName, pattern: patternName } = required(settings);
      const recording = required(recorder);
      consumer = required(pattern).createConsumer(required(connection).client, {
        key,
        batch,
        consumerName,
        from,
        onError: (error) => {
          if (errors.length < KEPT_ERRORS) errors.push(error.message);
        },
      });
      let toldNs = 0;
      const tell = (now: Nanoseconds): void => {
        toldNs = now;
        if (recording.takeChanged()) emit('handled', recording.handled());
      };
      const record = (messages: readonly Message[]): void => {
        const now = monotonicNs();
        recording.record(messages, now);
        if (now - toldNs >= TELL_EVERY_NS) tell(now);
      };
      const openStore = store;
      const handler: MessageHandler =
        openStore === undefined
          ? record
          : async (messages) => {
              const began = monotonicNs();
              await saveMessages(openStore, patternName, messages);
              storeNs += monotonicNs() - began;
              record(messages);
            };
      startedNs = monotonicNs();
      await consumer.start(handler);
      clearInterval(tail);
      tail = setInterval(() => tell(monotonicNs()), TELL_TAIL_MS);
    },
    beginWindow() {
      storeNs = 0;
      windowBeganNs = monotonicNs();
      meter.begin();
    },
    endWindow() {
      if (store === undefined) return meter.end();
      return meter.end(Math.min(1, storeNs / (monotonicNs() - windowBeganNs)));
    },
    async stop(options) {
      const report = await required(consumer).stop(options);
      clearInterval(tail);
      emit('handled', required(recorder).handled());
      return report;
    },
    report() {
      return { ...required(recorder).report(), startedNs, counters: required(consumer).counters(), errors };
    },
    async close() {
      await store?.close();
      await connection?.close();
    },
  };
});
