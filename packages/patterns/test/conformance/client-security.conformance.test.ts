import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSecured, type SecuredRedis, startSecured, type Way } from '../support/secured.js';
import { clientNames, limitsOf, type OpenClient } from '../support/variants.js';
import { waitFor } from '../support/wait-for.js';

/**
 * Every adapter over TLS and, where its library can, a unix socket, as an ACL user: also on the connections that the
 * adapter opens itself, which must be configured as the one it was given.
 */
let server: SecuredRedis;
beforeAll(async () => {
  server = await startSecured();
});
afterAll(() => server.stop());

const WAYS: readonly Way['by'][] = ['tls', 'unix-socket'];
const CASES = clientNames.flatMap((name) =>
  WAYS.filter((by) => by === 'tls' || limitsOf(name).unixSocket).map((by) => [name, by] as const),
);

describe.each(CASES)('%s over %s', (clientName, by) => {
  let opened: OpenClient;
  beforeEach(async () => {
    opened = await openSecured(clientName, server.ways[by]);
  });
  afterEach(() => opened.close());

  it('is the user it was told to be, on every connection, and carries bytes', async () => {
    const { redis } = opened;
    const connection = await redis.openConnection({ name: 'own' });
    const body = Buffer.of(0xff, 0x00, 0x0d, 0x0a);
    for (const sender of [redis, connection]) {
      expect(String(await sender.send(['ACL', 'WHOAMI']))).toBe('weir');
      await sender.send(['SET', `secured:${clientName}:${by}`, body]);
      expect(await sender.send(['GET', `secured:${clientName}:${by}`])).toEqual(body);
    }
    await connection.close();
  });

  it('comes back as that user after its connection was killed', async () => {
    const { redis } = opened;
    const connection = await redis.openConnection({ name: 'killed' });
    const id = String(await connection.send(['CLIENT', 'ID']));
    const waiting = connection.sendMany([['BRPOP', `secured:none:${clientName}`, '30']], {
      deadlineMs: 60_000,
    });
    await waitFor(
      async () => new RegExp(`id=${id} .*cmd=brpop`).test(String(await redis.send(['CLIENT', 'LIST']))),
      'the pop to wait',
    );
    await redis.send(['CLIENT', 'KILL', 'ID', id]);
    expect(await waiting).toMatchObject([{ state: 'unknown' }]);
    await waitFor(() => connection.isConnected, 'the connection to come back');
    expect(String(await connection.send(['ACL', 'WHOAMI']))).toBe('weir');
    await connection.close();
  });

  it('subscribes as that user', async () => {
    const { redis } = opened;
    const received: string[] = [];
    const channel = `secured:${clientName}:${by}`;
    const subscription = await redis.subscribe(channel, (body) => received.push(String(body)), {
      name: 'sub',
    });
    await redis.send(['PUBLISH', channel, 'hello']);
    await waitFor(() => received.length === 1, 'the message');
    await subscription.close();
  });
});
