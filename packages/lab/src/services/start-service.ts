import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { WeirError } from '../core/errors.js';
import { loadPatterns } from '../core/load-patterns.js';
import type { Milliseconds } from '../core/units.js';
import { type ClientLibrary, connectClient } from '../redis/clients.js';
import { resolveStore } from '../stores/load-stores.js';
import type { MessageStore } from '../stores/message-store.js';
import { checkExposure } from './authorization.js';
import { type ConsumerServiceOptions, consumerService } from './consumer.js';
import { createHttpServer, type HttpServerOptions } from './http-server.js';
import { type PointServiceOptions, pointService } from './point.js';
import { producerService } from './producer.js';
import { openResultArchive } from './result-archive.js';
import type { ConnectionStrategy, StrategyOptions } from './strategies/strategy.js';

export interface ServiceOptions extends Omit<HttpServerOptions, 'title'> {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** With credentials, if any. */
  readonly redisUrl: string;
  readonly client: ClientLibrary;
  /** Put before the keys and channels of the patterns. */
  readonly keyPrefix: string;
}

export interface ConsumerOptions
  extends ServiceOptions,
    Pick<ConsumerServiceOptions, 'consumerName' | 'offset' | 'drainDeadlineMs' | 'shutdownDeadlineMs'> {
  /** Address of the store for messages and results. */
  readonly store: string;
  /** Puts something between the consumers and the store that sees every batch that is saved. */
  readonly observe?: (store: MessageStore) => MessageStore;
}

export interface PointOptions
  extends ServiceOptions,
    StrategyOptions,
    Pick<PointServiceOptions, 'entries' | 'hitRate' | 'random'> {
  readonly strategy: ConnectionStrategy;
  /** As in `connectClient`. */
  readonly autoPipelining: boolean;
}

/** A service that listens. */
export interface RunningService {
  readonly url: string;
  /**
   * Takes no more requests, answers those under way, finishes what was taken.
   * @returns false when that took longer than the deadline
   */
  close(deadlineMs: Milliseconds): Promise<boolean>;
}

/** Closes something that was opened for the service. */
type Close = () => Promise<unknown>;

/**
 * Connects to Redis and listens.
 * @throws {WeirError} USAGE, REDIS_UNREACHABLE, or CANNOT_LISTEN
 */
export async function startProducerService(options: ServiceOptions): Promise<RunningService> {
  return start(options, 'weir producer', async (app, client) => {
    const { keyPrefix, bodyLimitBytes } = options;
    const patterns = await loadPatterns();
    await app.register(producerService, { client, patterns, keyPrefix, bodyLimitBytes });
    return [];
  });
}

/**
 * Connects to Redis and the database and listens; nothing is consumed before it is asked for.
 * @throws {WeirError} USAGE, REDIS_UNREACHABLE, STORE_UNREACHABLE, CANNOT_WRITE, or CANNOT_LISTEN
 */
export async function startConsumerService(options: ConsumerOptions): Promise<RunningService> {
  return start(options, 'weir consumer', async (app, client) => {
    const { keyPrefix, consumerName, offset, drainDeadlineMs, shutdownDeadlineMs, observe } = options;
    const driver = await resolveStore(options.store);
    const store = await driver.open(options.store);
    const archive = await openResultArchive(options.store, driver.keeps ?? true);
    const deadlines = { drainDeadlineMs, shutdownDeadlineMs };
    const patterns = await loadPatterns();
    await app.register(consumerService, {
      client,
      patterns,
      keyPrefix,
      store: observe?.(store) ?? store,
      archive,
      consumerName,
      offset,
      ...deadlines,
    });
    return [() => archive.close(), () => store.close()];
  });
}

/**
 * Connects to Redis as the strategy has it, and listens.
 * @throws {WeirError} USAGE, REDIS_UNREACHABLE, or CANNOT_LISTEN
 */
export async function startPointService(options: PointOptions): Promise<RunningService> {
  const { autoPipelining, keyPrefix, entries, hitRate, random } = options;
  const addService = async (app: FastifyInstance, client: ConnectedRedis['client']): Promise<Close[]> => {
    const strategy = await options.strategy.open(client, options);
    await app.register(pointService, { client, strategy, keyPrefix, entries, hitRate, random });
    return [];
  };
  return start(options, 'weir point', addService, { autoPipelining });
}

async function start(
  options: ServiceOptions,
  title: string,
  addService: (app: FastifyInstance, client: ConnectedRedis['client']) => Promise<Close[]>,
  connection: { readonly autoPipelining?: boolean } = {},
): Promise<RunningService> {
  const { host, port, token, redisUrl, client: library } = options;
  checkExposure(host, token);
  const redis = await connectClient(library, redisUrl, { name: title.replace(' ', '-'), ...connection });
  const closing: Close[] = [() => redis.close()];
  try {
    const app = await createHttpServer({ ...options, title });
    closing.unshift(() => app.close());
    closing.splice(1, 0, ...(await addService(app, redis.client)));
    await app.listen({ host, port }).catch((cause: unknown) => {
      throw cannotListen(host, port, cause);
    });
    const url = urlOf(app, host);
    app.log.info({ url, title }, 'listening');
    return { url, close: (deadlineMs) => closeAll(app, closing, deadlineMs) };
  } catch (error) {
    for (const close of closing) await close();
    throw error;
  }
}

type ConnectedRedis = Awaited<ReturnType<typeof connectClient>>;

/** In order: no more requests, then what they used. */
async function closeAll(
  app: FastifyInstance,
  closing: readonly Close[],
  deadlineMs: Milliseconds,
): Promise<boolean> {
  app.log.info({ deadlineMs }, 'ending');
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), deadlineMs);
  });
  const closeEach = async (): Promise<boolean> => {
    for (const close of closing) await close();
    return true;
  };
  const inTime = await Promise.race([closeEach(), deadline]);
  clearTimeout(timer);
  app.log.info({ inTime }, 'ended');
  return inTime;
}

function urlOf(app: FastifyInstance, host: string): string {
  const address = app.server.address();
  const isPath = address === null || typeof address === 'string';
  const { port }: Pick<AddressInfo, 'port'> = isPath ? { port: 0 } : address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function cannotListen(host: string, port: number, cause: unknown): WeirError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new WeirError('CANNOT_LISTEN', `cannot listen on ${host}:${port}: ${reason}`, {
    cause,
    remedy: 'another program may use the port: choose one with --port',
  });
}
