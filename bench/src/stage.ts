import { relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connectNodeRedis, type NodeRedisClient } from './contenders/node-redis-client.js';
import { type DatabaseName, type Databases, openDatabases } from './databases.js';
import { localFleet, startRedisServer, type TypedWorker, typedWorker, type WorkerApi } from './lab.js';
import type { ReceiverApi, ReceiverSettings, SenderApi, SenderSettings } from './processes/api.js';

/** What a trial plays on: an empty Redis, and processes that end with it. */
export interface Trial {
  /** The emptied Redis of the bench. */
  readonly redisUrl: string;
  /** Makes an empty database and answers its address. */
  emptyDatabase(name: DatabaseName): Promise<string>;
  /** Starts a worker process of the lab or of the bench, without preparing it. */
  startProcess<Api extends WorkerApi>(owner: 'lab' | 'bench', module: string): Promise<TypedWorker<Api>>;
  startSender(settings: Omit<SenderSettings, 'url'>): Promise<TypedWorker<SenderApi>>;
  startReceiver(settings: Omit<ReceiverSettings, 'url'>): Promise<TypedWorker<ReceiverApi>>;
}

/** Far above any trial here: a contender that lost a message must not hang the bench. */
const TRIAL_DEADLINE_MS = 120_000;

/** One redis-server for the whole bench, emptied before each trial; database servers where a trial asks for one. */
export interface Stage {
  /**
   * Plays one trial and ends its processes, whatever happens.
   * @param name for the message of an error
   * @throws {WeirError} INTERRUPTED when `signal` was aborted; Error naming the trial when a process of it failed, when it
   *   is void or took too long
   */
  trial<Result>(name: string, play: (trial: Trial) => Promise<Result>, signal: AbortSignal): Promise<Result>;
  close(): Promise<void>;
}

/** @throws {WeirError} REDIS_MISSING, REDIS_GONE or CANNOT_WRITE */
export async function openStage(): Promise<Stage> {
  // A subscriber that falls behind the sender must not be cut off: that would be a trial of the limit.
  const config = { 'client-output-buffer-limit': 'pubsub 0 0 0' };
  const server = await startRedisServer({ config });
  const client = await connectNodeRedis(server.url);
  const databases = openDatabases();
  return {
    async trial(name, play, signal) {
      try {
        return await runTrial({ url: server.url, client, databases }, play, signal);
      } catch (cause) {
        if (signal.aborted) throw signal.reason;
        throw new Error(`${name}: ${cause instanceof Error ? cause.message : cause}`, { cause });
      }
    },
    async close() {
      client.destroy();
      await Promise.all([server.stop(), databases.close()]);
    },
  };
}

interface Servers {
  readonly url: string;
  readonly client: NodeRedisClient;
  readonly databases: Databases;
}

async function runTrial<Result>(
  { url, client, databases }: Servers,
  play: (trial: Trial) => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  signal.throwIfAborted();
  await client.flushAll();
  const fleet = localFleet();
  const start = async <Api extends WorkerApi>(role: 'sender' | 'receiver'): Promise<TypedWorker<Api>> =>
    typedWorker<Api>(await fleet.start({ module: moduleOf(role), role, index: 0 }));
  const ended = new AbortController();
  const either = AbortSignal.any([signal, ended.signal]);
  try {
    const playing = play({
      redisUrl: url,
      emptyDatabase: (name) => databases.create(name),
      startProcess: async (owner, module) => {
        const path = owner === 'lab' ? module : moduleOf(module);
        return typedWorker(await fleet.start({ module: path, role: module, index: 0 }));
      },
      async startSender(settings) {
        const sender = await start<SenderApi>('sender');
        await sender.call('prepare', { ...settings, url });
        return sender;
      },
      async startReceiver(settings) {
        const receiver = await start<ReceiverApi>('receiver');
        await receiver.call('prepare', { ...settings, url });
        return receiver;
      },
    });
    const late = delay(TRIAL_DEADLINE_MS, undefined, { signal: either }).then(() => {
      throw new Error(`it did not end within ${TRIAL_DEADLINE_MS / 1000} s`);
    });
    return await Promise.race([playing, late]);
  } finally {
    ended.abort();
    await fleet.close();
  }
}

/** The fleet names modules relative to the lab's own folder of workers; ours lie here. */
function moduleOf(name: string): string {
  const workers = fileURLToPath(new URL('../../packages/lab/dist/workers/', import.meta.url));
  return relative(workers, fileURLToPath(new URL(`./processes/${name}`, import.meta.url)));
}
