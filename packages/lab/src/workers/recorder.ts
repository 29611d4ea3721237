import type { Message } from '@weir/patterns';
import type { Nanoseconds } from '../core/units.js';
import { LatencyHistogram } from '../measure/histogram.js';
import { DeliveryLedger } from '../measure/ledger.js';
import {
  type ConsumerReport,
  type ConsumerSettings,
  type HandledEvent,
  TIMELINE_STEP_NS,
} from './messaging-api.js';
import { intendedTime } from './payload.js';

/** What the recorder needs to know of a message. */
export type RecordedMessage = Pick<Message, 'body' | 'producer' | 'sequence'>;

export type RecorderSettings = Pick<ConsumerSettings, 'producers' | 'warmUpProducers' | 'payloadBytes'>;

/** Keeps what was handled, when, and how long it took to get here. On the hot path: once per message. */
export class Recorder {
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

  constructor({ producers, warmUpProducers, payloadBytes }: RecorderSettings) {
    this.#measured = new Map(producers.map((id, index) => [id, index]));
    this.#warmUp = new Map(warmUpProducers.map((id, index) => [id, index]));
    this.#measuredCounts = producers.map(() => 0);
    this.#warmUpCounts = warmUpProducers.map(() => 0);
    this.#payloadBytes = payloadBytes;
    this.#ledger = new DeliveryLedger(producers.length);
  }

  record(messages: readonly RecordedMessage[], now: Nanoseconds): void {
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

  #other(message: RecordedMessage): void {
    const warmUp = this.#warmUp.get(message.producer);
    if (warmUp === undefined) this.#ledger.unexpected();
    else this.#warmUpCounts[warmUp] = (this.#warmUpCounts[warmUp] ?? 0) + 1;
  }
}
