import type { ConsumerCounters } from '@weir/patterns';
import { monotonicNs } from '../measure/clock.js';
import { LatencyHistogram } from '../measure/histogram.js';
import { ResourceMeter } from '../measure/resources.js';
import { type ConsumerFigures, consumerRemoteControl } from './consumer-remote-control.js';
import type { RemoteConsumerSettings } from './http-api.js';
import { type HttpClient, httpClient } from './http-client.js';
import { type MessagingConsumerApi, TIMELINE_STEP_NS } from './messaging-api.js';
import { serveWorker } from './worker-channel.js';

/** How often the service is asked for its figures, in milliseconds; times are as coarse as this. */
const ASK_EVERY_MS = 20;

/**
 * Stands for a consumer service that somebody else runs. Only its counters can be seen, so messages are counted and not
 * told apart: what was handled beyond the warm-up counts as the first so many of the trial, and there are no latencies.
 */
serveWorker((emit): MessagingConsumerApi<RemoteConsumerSettings> => {
  const meter = new ResourceMeter();
  let settings: RemoteConsumerSettings | undefined;
  let client: HttpClient | undefined;
  let timer: NodeJS.Timeout | undefined;
  let counters: ConsumerCounters | undefined;
  let startedNs = 0;
  /** Handled before the window: by the warm-up. */
  let before: number | undefined;
  let total = 0;
  let firstNs = 0;
  let lastNs = 0;
  const timeline: number[] = [];

  const required = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('prepare comes first');
    return value;
  };
  const control = () => consumerRemoteControl(required(client), required(settings).pattern);
  const note = ({ totalMessages, counters: now }: ConsumerFigures): void => {
    const grown = totalMessages - total;
    total = totalMessages;
    counters = now;
    if (grown <= 0) return;
    if (before !== undefined) {
      lastNs = monotonicNs();
      if (firstNs === 0) firstNs = lastNs;
      const step = Math.floor((lastNs - firstNs) / TIMELINE_STEP_NS);
      while (timeline.length <= step) timeline.push(0);
      timeline[step] = (timeline[step] ?? 0) + grown;
    }
    emit('handled', { measured: [total - (before ?? total)], warmUp: [before ?? total] });
  };
  const ask = (): void => {
    timer = setTimeout(() => {
      control()
        .stats()
        .then(note, () => undefined)
        .finally(ask);
    }, ASK_EVERY_MS);
  };

  return {
    async prepare(wanted) {
      settings = wanted;
      client = httpClient(wanted.service, 2, process.env.WEIR_TOKEN);
    },
    async start({ from }) {
      startedNs = monotonicNs();
      total = 0;
      await control().start(required(settings).batch, from);
      ask();
    },
    beginWindow() {
      before = total;
      meter.begin();
    },
    endWindow() {
      return meter.end();
    },
    async stop() {
      clearTimeout(timer);
      const figures = await control().stop();
      note(figures);
      return { drained: figures.drained, unfinished: figures.unfinished, counters: figures.counters };
    },
    report() {
      const measured = Math.max(0, total - (before ?? 0));
      return {
        deliveries: {
          counts: [new Uint8Array(measured).fill(1)],
          overflow: [],
          outOfOrder: 0,
          unexpected: 0,
        },
        latency: new LatencyHistogram().encode(),
        startedNs,
        firstHandledNs: firstNs,
        lastHandledNs: lastNs,
        timeline,
        batches: 0,
        damaged: 0,
        stored: total,
        counters: required(counters),
        errors: [],
      };
    },
    async close() {
      clearTimeout(timer);
      client?.close();
    },
  };
});
