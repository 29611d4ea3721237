import { usageError, WeirError } from '../core/errors.js';
import type { Milliseconds } from '../core/units.js';
import { checkRedisUrl, redact } from './address.js';
import { probe } from './probe.js';
import { type RedisServer, type RedisServerOptions, startRedisServer } from './redis-server.js';
import type { ManagedOrGivenRedis } from './redis-target.js';

export interface RedisTargetOptions extends RedisServerOptions {
  /** `--redis`: use this one and start none. */
  readonly url?: string;
  /** How long the Redis of `url` may take to answer. Default 2500. */
  readonly connectDeadlineMs?: Milliseconds;
}

/** The Redis of a run. `close` ends a managed one and leaves a given one alone. */
export type RedisTarget = (
  | (ManagedOrGivenRedis & { readonly managed: true; readonly server: RedisServer })
  | (ManagedOrGivenRedis & { readonly managed: false })
) & { close(): Promise<void> };

/**
 * Finds the Redis a run works on: starts one, or makes sure that the given one answers.
 * @throws {WeirError} USAGE when the options contradict each other, REDIS_UNREACHABLE when the given one does not
 *   answer or refuses us, and whatever `startRedisServer` throws
 */
export async function openRedisTarget(options: RedisTargetOptions = {}): Promise<RedisTarget> {
  const { url, connectDeadlineMs = 2_500, ...serverOptions } = options;
  if (url === undefined) {
    const server = await startRedisServer(serverOptions);
    return {
      managed: true,
      url: server.url,
      address: redact(server.url),
      server,
      close: () => server.stop(),
    };
  }
  checkRedisUrl('--redis', url);
  if (options.serverPath !== undefined) {
    throw usageError('--redis-server', options.serverPath, 'left out when --redis names a server that runs');
  }
  await reach(url, connectDeadlineMs);
  return { managed: false, url, address: redact(url), close: async () => undefined };
}

async function reach(url: string, deadlineMs: Milliseconds): Promise<void> {
  const answer = await probe(url, deadlineMs);
  if (answer.state === 'ready') return;
  const address = redact(url);
  if (answer.state === 'refused') {
    throw new WeirError('REDIS_UNREACHABLE', `${address} refuses us: ${answer.error.message}`, {
      cause: answer.error,
      remedy: 'check user and password in the URL, and that the user may run PING and INFO',
    });
  }
  throw new WeirError('REDIS_UNREACHABLE', `${address} does not answer: ${reasonOf(answer.error)}`, {
    cause: answer.error,
    remedy: 'check the address, or leave --redis out and weir starts a server of its own',
  });
}

/** A name with several addresses fails with an AggregateError, whose own message is empty. */
function reasonOf(error: Error): string {
  return error instanceof AggregateError ? error.errors.map(String).join('; ') : error.message;
}
