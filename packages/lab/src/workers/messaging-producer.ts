import { loadPatterns } from '../core/load-patterns.js';
import { connectClient } from '../redis/clients.js';
import { serveLoad } from './load.js';
import type { ProducerSettings } from './messaging-api.js';
import { payloadOf } from './payload.js';

/** The producer of a messaging trial: the pattern and the client, and nothing between them and Redis. */
serveLoad<ProducerSettings>(async ({ pattern: name, client, url, key, payloadBytes, bulk }) => {
  const pattern = (await loadPatterns()).get(name);
  if (pattern === undefined) throw new Error(`there is no pattern ${name}`);
  const connection = await connectClient(client, url, { name: 'weir-producer' });
  const body = payloadOf(payloadBytes);
  return {
    bulk,
    mostWrites: Number.POSITIVE_INFINITY,
    createProducer: (producerId, maxInFlight) =>
      pattern.createProducer(connection.client, { key, producerId, maxInFlight }),
    bodies: () => {
      // The messages of one send have one time, and then one body.
      let time = Number.NaN;
      let text = '';
      return (intendedNs) => {
        if (intendedNs !== time) text = body(intendedNs);
        time = intendedNs;
        return text;
      };
    },
    close: () => connection.close(),
  };
});
