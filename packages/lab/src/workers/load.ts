import { type Producer, SendError } from '@weir/patterns';
import type { Nanoseconds } from '../core/units.js';
import { NANOSECONDS_PER_MILLISECOND } from '../core/units.js';
import { monotonicNs } from '../measure/clock.js';
import { SendLedger } from '../measure/ledger.js';
import { Pacer, type ScheduleReport } from '../measure/pacer.js';
import { ResourceMeter } from '../measure/resources.js';
import { ClosedWindow } from './closed-window.js';
import type { LoadEnd, MessagingProducerApi, ProducerReport } from './messaging-api.js';
import { serveWorker } from './worker-channel.js';

/** An open load is never held back by the pattern's own window; the backlog shows in latency and schedule. */
const OPEN_LOAD_IN_FLIGHT = 1_000_000;

/** How the messages of a load travel: straight into Redis, or through a service. */
export interface LoadPath {
  /** Messages in one send of a closed load. */
  readonly bulk: number;
  /** Sends under way at once; the next one waits for an answer. */
  readonly mostWrites: number;
  createProducer(producerId: string, maxInFlight: number): Producer;
  /** Makes the body of one message. */
  bodies(producerId: string): (intendedNs: Nanoseconds, sequence: number) => string;
  /** Begins to watch what the way itself costs; what it returns ends it and adds to the report. */
  observe?(): Promise<() => Promise<Pick<ProducerReport, 'requests'>>>;
  close(): Promise<void>;
}

/**
 * The load generator of a messaging trial, whatever way the messages take.
 * @param open connects, once, with the settings of the trial
 */
export function serveLoad<Settings>(open: (settings: Settings) => Promise<LoadPath>): void {
  serveWorker((): MessagingProducerApi<Settings> => {
    let opened: LoadPath | undefined;
    let window = new ClosedWindow(1);
    let stopping = new AbortController();
    const meter = new ResourceMeter();

    const path = (): LoadPath => {
      if (opened === undefined) throw new Error('prepare comes first');
      return opened;
    };
    const closedLoad = async (
      producerId: string,
      inFlight: number,
      until: LoadEnd,
    ): Promise<ProducerReport> => {
      const { bulk, mostWrites, createProducer, bodies } = path();
      window = new ClosedWindow(inFlight);
      const load = new Sending(createProducer(producerId, inFlight), () => window.wake());
      const body = bodies(producerId);
      const end = endOf(until);
      const { signal } = stopping;
      while (!signal.aborted) {
        const now = monotonicNs();
        const size = Math.min(bulk, end.left(load.attempted, now));
        if (size === 0) break;
        if (window.free < size || load.writesUnderWay >= mostWrites) {
          await window.changed();
          continue;
        }
        window.take(size);
        const first = load.attempted;
        const batch = Array.from({ length: size }, (_, index) => body(now, first + index));
        load.send(batch, (failed) => window.giveBack(failed));
      }
      return load.finish(undefined);
    };
    const openLoad = async (
      producerId: string,
      perSecond: number,
      until: LoadEnd,
    ): Promise<ProducerReport> => {
      const { createProducer, bodies } = path();
      const load = new Sending(createProducer(producerId, OPEN_LOAD_IN_FLIGHT));
      const body = bodies(producerId);
      const messages =
        'messages' in until ? until.messages : Math.round((perSecond * until.durationMs) / 1000);
      const pacer = new Pacer({ perSecond, count: messages });
      await pacer.run(
        (intended) => {
          const first = load.attempted;
          load.send(intended.map((time, index) => body(time, first + index)));
        },
        { signal: stopping.signal },
      );
      return load.finish(pacer.report());
    };

    return {
      async prepare(settings) {
        opened = await open(settings);
      },
      async warmUp({ producerId, inFlight }) {
        stopping = new AbortController();
        const report = await closedLoad(producerId, inFlight, { messages: Number.POSITIVE_INFINITY });
        return { sent: report.acknowledged };
      },
      stopWarmUp() {
        stopping.abort();
        window.wake();
      },
      handled({ total }) {
        window.settle(total);
      },
      async run(load) {
        stopping = new AbortController();
        const observed = await path().observe?.();
        const report =
          load.mode === 'closed'
            ? await closedLoad(load.producerId, load.inFlight, load.until)
            : await openLoad(load.producerId, load.perSecond, load.until);
        return { ...report, ...(await observed?.()) };
      },
      abort() {
        stopping.abort();
        window.wake();
      },
      beginWindow() {
        meter.begin();
      },
      endWindow() {
        return meter.end();
      },
      async close() {
        await opened?.close();
      },
    };
  });
}

/** How much of a load is left, in messages. */
function endOf(until: LoadEnd): { left(attempted: number, now: Nanoseconds): number } {
  if ('messages' in until) return { left: (attempted) => until.messages - attempted };
  const end = monotonicNs() + until.durationMs * NANOSECONDS_PER_MILLISECOND;
  return { left: (_, now) => (now < end ? Number.POSITIVE_INFINITY : 0) };
}

/** Sends through one producer and keeps the fate of every send by sequence number. */
class Sending {
  readonly #producer: Producer;
  readonly #onSettled: () => void;
  readonly #ledger = new SendLedger();
  readonly #underWay = new Set<Promise<void>>();
  #attempted = 0;
  #acknowledged = 0;
  #writes = 0;
  #firstSendNs = 0;
  #lastAcknowledgedNs = 0;

  /** @param onSettled called whenever a send was answered or has failed */
  constructor(producer: Producer, onSettled: () => void = () => undefined) {
    this.#producer = producer;
    this.#onSettled = onSettled;
  }

  get writesUnderWay(): number {
    return this.#underWay.size;
  }

  get attempted(): number {
    return this.#attempted;
  }

  /** Sends without waiting; `onFailed` hears how many were not acknowledged. */
  send(bodies: readonly string[], onFailed?: (count: number) => void): void {
    const first = this.#attempted;
    this.#attempted += bodies.length;
    this.#writes++;
    if (this.#firstSendNs === 0) this.#firstSendNs = monotonicNs();
    const sending = this.#producer.send(bodies).then(
      () => this.#acknowledge(first, bodies.length, bodies.length),
      (error: unknown) => {
        const failed = this.#fail(first, bodies.length, error);
        onFailed?.(failed);
      },
    );
    this.#underWay.add(sending);
    void sending.finally(() => {
      this.#underWay.delete(sending);
      this.#onSettled();
    });
  }

  async finish(schedule: ScheduleReport | undefined): Promise<ProducerReport> {
    await Promise.all(this.#underWay);
    await this.#producer.close();
    return {
      sends: this.#ledger.snapshot(),
      attempted: this.#attempted,
      acknowledged: this.#acknowledged,
      writes: this.#writes,
      firstSendNs: this.#firstSendNs,
      lastAcknowledgedNs: this.#lastAcknowledgedNs,
      schedule,
    };
  }

  #acknowledge(first: number, attempted: number, acknowledged: number): void {
    this.#ledger.attempt(first, attempted);
    this.#acknowledged += acknowledged;
    this.#lastAcknowledgedNs = monotonicNs();
  }

  /** A send that was refused whole (closed, length cap) reached Redis with none of its messages. */
  #fail(first: number, count: number, error: unknown): number {
    const failures = error instanceof SendError ? error.failures : undefined;
    this.#acknowledge(first, count, count - (failures?.length ?? count));
    if (failures === undefined) {
      for (let sequence = first; sequence < first + count; sequence++) this.#ledger.fail(sequence, 'failed');
      return count;
    }
    for (const { index, state } of failures) this.#ledger.fail(first + index, state);
    return failures.length;
  }
}
