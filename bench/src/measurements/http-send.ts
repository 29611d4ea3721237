import autocannon from 'autocannon';
import type { ProducerServiceApi, ProducerServiceSettings } from '../lab.js';
import { monotonicNs, NANOSECONDS_PER_SECOND } from '../lab.js';
import type { BareHttpApi } from '../processes/bare-http.js';
import type { Trial } from '../stage.js';
import type { Figures, Measurement } from './measurement.js';

/** What `weir serve producer` costs beyond HTTP itself: a write to Redis per request, and its acknowledgement. */
const CONNECTIONS = 50;
const MESSAGES = 30_000;
const WARM_UP = 0.2;
const BODY = 'x'.repeat(100);
const PATTERN = 'stream-group';

export const httpSend: Measurement = {
  name: 'http-send',
  sides: {
    weir: {
      label: `POST /${PATTERN}/send`,
      messages: MESSAGES,
      play: async (trial, messages) => {
        const service = await trial.startProcess<ProducerServiceApi>('lab', 'http-producer-service');
        const settings: Omit<ProducerServiceSettings, 'url'> = {
          client: 'node-redis',
          keyPrefix: '',
          bodyLimitBytes: 1024 * 1024,
        };
        await service.call('prepare', { ...settings, url: trial.redisUrl });
        return post(`${await service.call('address', undefined)}/${PATTERN}/send`, messages);
      },
    },
    bare: {
      label: 'a Fastify route that answers ok',
      messages: MESSAGES,
      play: async (trial: Trial, messages) => {
        const server = await trial.startProcess<BareHttpApi>('bench', 'bare-http');
        await server.call('prepare', undefined);
        return post(`${await server.call('address', undefined)}/send`, messages);
      },
    },
  },
  lines: [
    {
      name: 'http-send-vs-bare-fastify',
      item: 'f',
      figure: 'messagesPerSecond',
      side: 'weir',
      baseline: 'bare',
      target: 0.5,
      better: 'higher',
      conditions: `keep-alive, ${CONNECTIONS} connections with one request at a time each`,
    },
  ],
};

async function post(url: string, messages: number): Promise<Figures> {
  await load(url, Math.round(messages * WARM_UP));
  const began = monotonicNs();
  await load(url, messages);
  return { messagesPerSecond: (messages * NANOSECONDS_PER_SECOND) / (monotonicNs() - began) };
}

/** @throws Error when a request was not answered `ok`: the trial is void */
async function load(url: string, messages: number): Promise<void> {
  const result = await autocannon({
    url,
    method: 'POST',
    body: BODY,
    connections: CONNECTIONS,
    amount: messages,
  });
  if (result['2xx'] === messages) return;
  throw new Error(`${result['2xx']} of ${messages} requests were answered ok, ${result.errors} broke off`);
}
