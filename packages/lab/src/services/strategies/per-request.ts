import { CONNECTION_NAME, type ConnectionStrategy } from './strategy.js';

/**
 * A connection for each request, opened before and closed after it: how the first service of many begins.
 *
 * Redis: HELLO or AUTH, CLIENT SETNAME and what else the library says on a new connection, then the request's command.
 * Costs: a TCP handshake, a round trip or more, a file descriptor and an entry in Redis' client table per request; a
 * closed connection keeps its port for a minute (TIME_WAIT), so some 28,000 requests a minute use up the ports of an
 * address. Gives: requests never wait for each other.
 */
export const perRequest = {
  name: 'per-request',
  summary: 'opens a connection for each request and closes it afterwards',
  capabilities: {
    pooled: false,
    shared: false,
    connectionsPerUse: 1,
    idleConnections: () => 0,
    pingsPerUse: () => 0,
  },
  open: async (client) => ({
    async use(work) {
      const connection = await client.openConnection({ name: CONNECTION_NAME });
      try {
        return await work(connection);
      } finally {
        await connection.close();
      }
    },
    close: async () => undefined,
  }),
} satisfies ConnectionStrategy;
