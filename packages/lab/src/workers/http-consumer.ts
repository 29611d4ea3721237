import type { ConsumerCounters } from '@weir/patterns';
import { monotonicNs } from '../measure/clock.js';
import { ResourceMeter } from '../measure/resources.js';
import { type RunningService, startConsumerService } from '../services/start-service.js';
import type { MessageStore, StoredMessage } from '../stores/message-store.js';
import { consumerRemoteControl } from './consumer-remote-control.js';
import type { HttpConsumerSettings } from './http-api.js';
import { type HttpClient, httpClient } from './http-client.js';
import type { MessagingConsumerApi } from './messaging-api.js';
import { identityOf } from './payload.js';
import { ProgressTeller } from './progress-teller.js';
import { Recorder } from './recorder.js';
import { serveWorker } from './worker-channel.js';

const DEADLINE_MS = 1_000;

/**
 * `weir serve consumer` as a worker of a trial. It is started and stopped by its own HTTP routes, as a user would; what
 * was handled is seen between the consumer and its store.
 */
serveWorker((emit): MessagingConsumerApi<HttpConsumerSettings> => {
  const meter = new ResourceMeter();
  let service: RunningService | undefined;
  let client: HttpClient | undefined;
  let settings: HttpConsumerSettings | undefined;
  let recorder: Recorder | undefined;
  let teller: ProgressTeller | undefined;
  let counters: ConsumerCounters | undefined;
  let hasStore = false;
  let storeNs = 0;
  let windowBeganNs = 0;
  let startedNs = 0;

  const required = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('prepare comes first');
    return value;
  };
  const control = () => consumerRemoteControl(required(client), required(settings).pattern);
  const observe = (store: MessageStore): MessageStore => ({
    ...store,
    save: async (pattern, messages) => {
      const began = monotonicNs();
      const receipt = await store.save(pattern, messages);
      const now = monotonicNs();
      storeNs += now - began;
      required(recorder).record(messages.map(recorded), now);
      required(teller).changed(now);
      return receipt;
    },
  });

  return {
    async prepare(wanted) {
      settings = wanted;
      const recording = new Recorder(wanted);
      recorder = recording;
      teller = new ProgressTeller(recording, (event) => emit('handled', event));
      hasStore = wanted.store !== 'none';
      service = await startConsumerService({
        host: '127.0.0.1',
        port: 0,
        token: undefined,
        requestsPerSecond: undefined,
        log: undefined,
        bodyLimitBytes: 1024,
        redisUrl: wanted.url,
        client: wanted.client,
        keyPrefix: wanted.keyPrefix,
        store: wanted.store,
        consumerName: wanted.consumerName,
        drainDeadlineMs: 30_000,
        offset: 'memory',
        shutdownDeadlineMs: DEADLINE_MS,
        observe,
      });
      client = httpClient(service.url, 2);
    },
    async start({ from }) {
      startedNs = monotonicNs();
      await control().start(required(settings).batch, from);
      required(teller).start();
    },
    beginWindow() {
      storeNs = 0;
      windowBeganNs = monotonicNs();
      meter.begin();
    },
    endWindow() {
      if (!hasStore) return meter.end();
      return meter.end(Math.min(1, storeNs / (monotonicNs() - windowBeganNs)));
    },
    async stop() {
      const { drained, unfinished, counters: last } = await control().stop();
      counters = last;
      required(teller).stop();
      return { drained, unfinished, counters: last };
    },
    report() {
      return { ...required(recorder).report(), startedNs, counters: required(counters), errors: [] };
    },
    async close() {
      client?.close();
      await service?.close(DEADLINE_MS);
    },
  };
});

function recorded({ body }: StoredMessage) {
  return { body, ...identityOf(body) };
}
