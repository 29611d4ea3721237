import { NANOSECONDS_PER_SECOND } from '../core/units.js';
import { SEND_DURATION } from '../services/producer.js';
import type { HttpSenderSettings } from './http-api.js';
import { type HttpClient, httpClient } from './http-client.js';
import { httpProducer } from './http-producer.js';
import { serveLoad } from './load.js';
import { identifiedPayloadOf } from './payload.js';

/** The sender of a messaging trial over HTTP: a load generator that posts, many requests at a time. */
serveLoad<HttpSenderSettings>(async ({ pattern, services, payloadBytes, bulk, connections }) => {
  const token = process.env.WEIR_TOKEN;
  const each = Math.max(1, Math.floor(connections / services.length));
  const clients = services.map((service) => httpClient(service, each, token));
  const clock = { count: 0, totalNs: 0 };
  return {
    bulk,
    mostWrites: each * services.length,
    createProducer: (producerId) => httpProducer(producerId, pattern, clients, clock),
    bodies: (producerId) => identifiedPayloadOf(payloadBytes, producerId),
    observe: async () => {
      const before = { ...clock, redisNs: await redisTime(clients, pattern) };
      return async () => ({
        requests: {
          count: clock.count - before.count,
          totalNs: clock.totalNs - before.totalNs,
          redisNs: (await redisTime(clients, pattern)) - before.redisNs,
        },
      });
    },
    close: async () => {
      for (const client of clients) client.close();
    },
  };
});

/** How long the services have waited for Redis so far, from their own metrics, in nanoseconds. */
async function redisTime(clients: readonly HttpClient[], pattern: string): Promise<number> {
  const line = new RegExp(`^${SEND_DURATION}_sum\\{pattern="${pattern}"\\} (\\S+)$`, 'm');
  const sums = await Promise.all(
    clients.map(async (client) =>
      Number(line.exec((await client.request('GET', '/metrics')).body)?.[1] ?? 0),
    ),
  );
  return sums.reduce((total, seconds) => total + seconds, 0) * NANOSECONDS_PER_SECOND;
}
