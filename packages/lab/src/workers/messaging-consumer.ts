import type { Consumer, Message, MessageHandler, MessagingPattern } from '@weir/patterns';
import { loadPatterns } from '../core/load-patterns.js';
import type { Nanoseconds } from '../core/units.js';
import { monotonicNs } from '../measure/clock.js';
import { LatencyHistogram } from '../measure/histogram.js';
import { DeliveryLedger } from '../measure/ledger.js';
import { ResourceMeter } from '../measure/resources.js';
import { connectClient } from '../redis/clients.js';
import { saveMessages } from '../services/save-messages.js';
import { resolveStore } from '../stores/load-stores.js';
import type { MessageStore } from '../stores/message-store.js';
import {
  type ConsumerReport,
  type ConsumerSettings,
  type HandledEvent,
  type MessagingConsumerApi,
  TIMELINE_STEP_NS,
} from './messaging-api.js';
import { intendedTime } from './payload.js';
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

/** Keeps what was handled, when, and how long it took to get here. On the hot path: once per message. */
class Recorder {
  readonly #measured: ReadonlyMap<string, number>;
  readonly #warmUp: ReadonlyMap<string, number>;
  readonly #payloadBytes: number;
  readonly #ledger: DeliveryLedger;
  readonly #latency = new LatencyHistogram();
  readonly #measuredCounts: number[];
  readonly #warmUpCounts: number[];
  readonly #timeline: number[] = [];
  #firstNs = 0;
  #lastNs = 0;
  #batches = 0;
  #damaged = 0;
  #stored = 0;
  #changed = false;

  constructor({ producers, warmUpProducers, payloadBytes }: ConsumerSettings) {
    this.#measured = new Map(producers.map((id, index) => [id, index]));
    this.#warmUp = new Map(warmUpProducers.map((id, index) => [id, index]));
    this.#measuredCounts = producers.map(() => 0);
    this.#warmUpCounts = warmUpProducers.map(() => 0);
    this.#payloadBytes = payloadBytes;
    this.#ledger = new DeliveryLedger(producers.length);
  }

  record(messages: readonly Message[], now: Nanoseconds): void {
    let measured = 0;
    for (const message of messages) {
      const producer = this.#measured.get(message.producer);
      if (producer === undefined) {
        this.#other(message);
        continue;
      }
      measured++;
      this.#measuredCounts[producer] = (this.#measuredCounts[producer] ?? 0) + 1;
      this.#ledger.record(producer, message.sequence);
      const { body } = message;
      if (body.length !== this.#payloadBytes) this.#damaged++;
      this.#latency.record(now - intendedTime(body));
    }
    this.#changed = true;
    this.#stored += messages.length;
    if (measured === 0) return;
    this.#batches++;
    if (this.#firstNs === 0) this.#firstNs = now;
    this.#lastNs = now;
    const step = Math.floor((now - this.#firstNs) / TIMELINE_STEP_NS);
    while (this.#timeline.length <= step) this.#timeline.push(0);
    this.#timeline[step] = (this.#timeline[step] ?? 0) + measured;
  }

  takeChanged(): boolean {
    const changed = this.#changed;
    this.#changed = false;
    return changed;
  }

  handled(): HandledEvent {
    return { measured: [...this.#measuredCounts], warmUp: [...this.#warmUpCounts] };
  }

  report(): Omit<ConsumerReport, 'startedNs' | 'counters' | 'errors'> {
    return {
      deliveries: this.#ledger.snapshot(),
      latency: this.#latency.encode(),
      firstHandledNs: this.#firstNs,
      lastHandledNs: this.#lastNs,
      timeline: this.#timeline,
      batches: this.#batches,
      damaged: this.#damaged,
      stored: this.#stored,
    };
  }

  #other(message: Message): void {
    const warmUp = this.#warmUp.get(message.producer);
    if (warmUp === undefined) this.#ledger.unexpected();
    else this.#warmUpCounts[warmUp] = (this.#warmUpCounts[warmUp] ?? 0) + 1;
  }
}
