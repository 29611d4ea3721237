import { setTimeout as delay } from 'node:timers/promises';
import { type RedisClient, RedisReplyError } from '@weir/patterns';
import type { Fault, Persistence, StruckServer } from '../../faults/fault.js';
import { startTcpProxy, type TcpProxy } from '../../faults/tcp-proxy.js';
import type { Measurement } from '../../measure/measurement.js';
import { connectClient } from '../../redis/clients.js';
import { difference, parseInfo, snapshot } from '../../redis/info.js';
import type { ConnectedClient } from '../../redis/libraries/library.js';
import { type RedisServer, startRedisServer } from '../../redis/redis-server.js';
import type { TrialContext } from '../experiment.js';

const SYNC_POLL_MS = 20;

/** What a trial with a fault stands on: Redis, a proxy before it, and a connection past the proxy. */
export interface Ground {
  readonly proxy: TcpProxy;
  /** Straight to the server that is primary now. */
  readonly redis: RedisClient;
  readonly server: StruckServer;
  close(): Promise<void>;
}

/**
 * Starts a server for this trial alone, persisting as asked, with a replica where the fault needs one. A Redis of the
 * user is used as it is; faults that need more were refused before.
 */
export async function prepareGround(
  fault: Fault,
  persistence: Persistence,
  serverPath: string | undefined,
  { redis, seed }: Pick<TrialContext, 'redis' | 'seed'>,
): Promise<Ground> {
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  try {
    const start = async (config: Readonly<Record<string, string>>): Promise<RedisServer> => {
      const server = await startRedisServer({ config, ...(serverPath === undefined ? {} : { serverPath }) });
      closing.push(() => server.stop());
      return server;
    };
    const primary = redis.managed ? await start(CONFIG[persistence]) : undefined;
    const url = primary?.url ?? redis.url;
    const proxy = await startTcpProxy({ target: url, seed });
    closing.push(() => proxy.close());
    const connectPast = async (target: string): Promise<ConnectedClient> => {
      const connected = await connectClient('node-redis', target, { name: 'weir-monitor' });
      closing.push(() => connected.close());
      return connected;
    };
    let past = await connectPast(url);
    const replica =
      primary !== undefined && fault.needsReplica === true
        ? await start({ ...CONFIG[persistence], replicaof: `127.0.0.1 ${primary.port}` })
        : undefined;
    if (replica !== undefined) await untilInSync(replica, connectPast);

    const own = (): RedisServer => {
      if (primary === undefined) throw new Error(`${fault.name} needs a server that weir started`);
      return primary;
    };
    return {
      proxy,
      get redis() {
        return past.client;
      },
      server: {
        restart: async () => {
          await own().restart();
          await untilLoaded(past.client);
        },
        crash: async () => {
          await own().kill();
          await own().restart();
          await untilLoaded(past.client);
        },
        failOver: async () => {
          if (replica === undefined) throw new Error(`${fault.name} needs a replica`);
          await own().kill();
          past = await connectPast(replica.url);
          await past.client.send(['REPLICAOF', 'NO', 'ONE']);
          proxy.redirect(replica.url);
        },
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Lines of redis.conf. Without snapshots: what a fault takes is to be seen, not what the last minute happened to save. */
const CONFIG = {
  none: { appendonly: 'no', 'repl-diskless-sync-delay': '0' },
  everysec: { appendonly: 'yes', appendfsync: 'everysec' },
  always: { appendonly: 'yes', appendfsync: 'always' },
} as const satisfies Record<Persistence, Readonly<Record<string, string>>>;

async function untilInSync(
  replica: RedisServer,
  connectPast: (url: string) => Promise<ConnectedClient>,
): Promise<void> {
  const { client } = await connectPast(replica.url);
  for (;;) {
    const info = parseInfo(String(await client.send(['INFO', 'replication'])));
    if (info.get('master_link_status') === 'up') return;
    await delay(SYNC_POLL_MS);
  }
}

/** The connection past the proxy comes back by itself, a moment after the server has. */
async function untilLoaded(client: RedisClient): Promise<void> {
  for (;;) {
    const [outcome] = await client.sendMany([['PING']], { deadlineMs: 1000 });
    if (outcome?.state === 'ok') return;
    if (outcome?.error instanceof RedisReplyError && outcome.error.kind !== 'LOADING') throw outcome.error;
    await delay(SYNC_POLL_MS);
  }
}

/** Since the server of this trial started. */
export async function redisFigures(client: RedisClient): Promise<Measurement['redis']> {
  const now = await snapshot(client);
  const uptimeMs = 1000 * Number(now.info.get('uptime_in_seconds') ?? 0);
  return difference({ takenAtMs: now.takenAtMs - Math.max(uptimeMs, 1), info: new Map() }, now);
}
