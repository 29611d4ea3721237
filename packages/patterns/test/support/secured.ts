import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { GlideClient, type GlideClientConfiguration, Logger } from '@valkey/valkey-glide';
import { Redis } from 'ioredis';
import { Valkey } from 'iovalkey';
import { createClient } from 'redis';
import type { RedisClient } from '../../src/client/redis-client.js';
import { TestRedis } from './redis.js';
import { adapterOf, type OpenClient } from './variants.js';

/** The user that may do what the tests do; the default user may do nothing. */
const USER = { username: 'weir', password: 'secret: & öffnen' };

/** How a client reaches the server. */
export type Way =
  | { readonly by: 'tls'; readonly port: number; readonly ca: Buffer }
  | { readonly by: 'unix-socket'; readonly path: string };

export interface SecuredRedis {
  readonly ways: Readonly<Record<Way['by'], Way>>;
  stop(): Promise<void>;
}

/** A server that speaks TLS with a certificate of its own and listens on a unix socket, for one ACL user only. */
export async function startSecured(): Promise<SecuredRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-tls-'));
  const [key, certificate, path] = ['key.pem', 'cert.pem', 'redis.sock'].map((name) => join(folder, name));
  if (key === undefined || certificate === undefined || path === undefined) throw new Error('no paths');
  // No authority, as it identifies a server: rustls (valkey-glide) accepts no authority in that place.
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-keyout', key, '-out', certificate, '-subj', '/CN=localhost'],
    ...['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'],
    ...['-addext', 'basicConstraints=critical,CA:FALSE'],
  ]);
  const port = await freePort();
  const redis = await TestRedis.start(
    ...['--tls-port', String(port), '--tls-cert-file', certificate, '--tls-key-file', key],
    ...['--tls-ca-cert-file', certificate, '--tls-auth-clients', 'no', '--unixsocket', path],
  );
  const owner = await createClient({ url: redis.url }).connect();
  await owner.sendCommand(['ACL', 'SETUSER', USER.username, 'on', `>${USER.password}`, '~*', '&*', '+@all']);
  await owner.sendCommand(['ACL', 'SETUSER', 'default', 'nopass', 'nocommands', '+ping']);
  owner.destroy();
  return {
    ways: {
      tls: { by: 'tls', port, ca: await readFile(certificate) },
      'unix-socket': { by: 'unix-socket', path },
    },
    async stop() {
      await redis.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Per library, in its own words. */
const OPENERS: Record<string, (way: Way) => Promise<OpenClient>> = {
  async 'node-redis'(way) {
    const socket =
      way.by === 'tls'
        ? ({ host: 'localhost', port: way.port, tls: true, ca: way.ca } as const)
        : ({ path: way.path, tls: false } as const);
    const client = createClient({ ...USER, socket });
    client.on('error', () => undefined);
    await client.connect();
    const redis = (await adapterOf('node-redis'))(client);
    return closing(redis, () => client.destroy());
  },
  async ioredis(way) {
    const client = new Redis({ ...ioredisOptions(way), lazyConnect: true });
    client.on('error', () => undefined);
    await client.connect();
    const redis = (await adapterOf('ioredis'))(client);
    return closing(redis, () => client.disconnect());
  },
  async iovalkey(way) {
    const client = new Valkey({ ...ioredisOptions(way), lazyConnect: true });
    client.on('error', () => undefined);
    await client.connect();
    const redis = (await adapterOf('iovalkey'))(client);
    return closing(redis, () => client.disconnect());
  },
  async 'valkey-glide'(way) {
    if (way.by !== 'tls') throw new Error('valkey-glide knows no unix sockets');
    const configuration: GlideClientConfiguration = {
      addresses: [{ host: 'localhost', port: way.port }],
      credentials: USER,
      useTLS: true,
      advancedConfiguration: { tlsAdvancedConfiguration: { rootCertificates: way.ca } },
      requestTimeout: 10_000,
    };
    Logger.init('off');
    const client = await GlideClient.createClient(configuration);
    const redis = (await adapterOf('valkey-glide'))(client, configuration);
    return closing(redis, () => client.close());
  },
};

function closing(redis: RedisClient, closeClient: () => void): OpenClient {
  return {
    redis,
    async close() {
      await redis.close();
      closeClient();
    },
  };
}

function ioredisOptions(way: Way) {
  return way.by === 'tls'
    ? { ...USER, host: 'localhost', port: way.port, tls: { ca: way.ca } }
    : { ...USER, path: way.path };
}

export async function openSecured(name: string, way: Way): Promise<OpenClient> {
  const open = OPENERS[name];
  if (open === undefined) throw new Error(`say in OPENERS how ${name} reaches a secured server`);
  return open(way);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
