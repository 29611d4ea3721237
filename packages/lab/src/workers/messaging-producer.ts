import type { MessagingPattern, Producer } from '@weir/patterns';
import { SendError } from '@weir/patterns';
import { loadPatterns } from '../core/load-patterns.js';
import type { Nanoseconds } from '../core/units.js';
import { NANOSECONDS_PER_MILLISECOND } from '../core/units.js';
import { monotonicNs } from '../measure/clock.js';
import { SendLedger } from '../measure/ledger.js';
import { Pacer, type ScheduleReport } from '../measure/pacer.js';
import { ResourceMeter } from '../measure/resources.js';
import { connectClient } from '../redis/clients.js';
import { ClosedWindow } from './closed-window.js';
import type { LoadEnd, MessagingProducerApi, ProducerReport, ProducerSettings } from './messaging-api.js';
import { payloadOf } from './payload.js';
import { serveWorker } from './worker-channel.js';

/** An open load is never held back by the pattern's own window; the backlog shows in latency and schedule. */
const OPEN_LOAD_IN_FLIGHT = 1_000_000;

serveWorker((): MessagingProducerApi => {
  let connection: Awaited<ReturnType<typeof connectClient>> | undefined;
  let pattern: MessagingPattern | undefined;
  let settings: ProducerSettings | undefined;
  let window = new ClosedWindow(1);
  let stopping = new AbortController();
  const meter = new ResourceMeter();

  const createProducer = (producerId: string, maxInFlight: number): Producer => {
    if (connection === undefined || pattern === undefined || settings === undefined) {
      throw new Error('prepare comes first');
    }
    return pattern.createProducer(connection.client, { key: settings.key, producerId, maxInFlight });
  };
  const prepared = (): ProducerSettings => {
    if (settings === undefined) throw new Error('prepare comes first');
    return settings;
  };
  const closedLoad = async (
    producerId: string,
    inFlight: number,
    until: LoadEnd,
  ): Promise<ProducerReport> => {
    const { bulk, payloadBytes } = prepared();
    window = new ClosedWindow(inFlight);
    const load = new Sending(createProducer(producerId, inFlight));
    const body = payloadOf(payloadBytes);
    const end = endOf(until);
    const { signal } = stopping;
    while (!signal.aborted) {
      const now = monotonicNs();
      const size = Math.min(bulk, end.left(load.attempted, now));
      if (size === 0) break;
      if (window.free < size) {
        await window.changed();
        continue;
      }
      window.take(size);
      load.send(new Array<string>(size).fill(body(now)), (failed) => window.giveBack(failed));
    }
    return load.finish(undefined);
  };
  const openLoad = async (producerId: string, perSecond: number, until: LoadEnd): Promise<ProducerReport> => {
    const { payloadBytes } = prepared();
    const load = new Sending(createProducer(producerId, OPEN_LOAD_IN_FLIGHT));
    const body = payloadOf(payloadBytes);
    const messages = 'messages' in until ? until.messages : Math.round((perSecond * until.durationMs) / 1000);
    const pacer = new Pacer({ perSecond, count: messages });
    await pacer.run((intended) => load.send(intended.map(body)), { signal: stopping.signal });
    return load.finish(pacer.report());
  };

  return {
    async prepare(wanted) {
      settings = wanted;
      pattern = (await loadPatterns()).get(wanted.pattern);
      if (pattern === undefined) throw new Error(`there is no pattern ${wanted.pattern}`);
      connection = await connectClient(wanted.client, wanted.url, { name: 'weir-producer' });
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
      return load.mode === 'closed'
        ? closedLoad(load.producerId, load.inFlight, load.until)
        : openLoad(load.producerId, load.perSecond, load.until);
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
      await connection?.close();
    },
  };
});

/** How much of a load is left, in messages. */
function endOf(until: LoadEnd): { left(attempted: number, now: Nanoseconds): number } {
  if ('messages' in until) return { left: (attempted) => until.messages - attempted };
  const end = monotonicNs() + until.durationMs * NANOSECONDS_PER_MILLISECOND;
  return { left: (_, now) => (now < end ? Number.POSITIVE_INFINITY : 0) };
}

/** Sends through one producer and keeps the fate of every send by sequence number. */
class Sending {
  readonly #producer: Producer;
  readonly #ledger = new SendLedger();
  readonly #underWay = new Set<Promise<void>>();
  #attempted = 0;
  #acknowledged = 0;
  #writes = 0;
  #firstSendNs = 0;
  #lastAcknowledgedNs = 0;

  constructor(producer: Producer) {
    this.#producer = producer;
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
      (error: unknown) => onFailed?.(this.#fail(first, bodies.length, error)),
    );
    this.#underWay.add(sending);
    void sending.finally(() => this.#underWay.delete(sending));
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
