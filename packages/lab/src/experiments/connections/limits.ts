import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';
import type { RedisClient } from '@weir/patterns';
import { usageError, WeirError } from '../../core/errors.js';
import { type Bytes, formatBytes } from '../../core/units.js';
import { parseInfo } from '../../redis/info.js';
import type { StrategyChoice } from './strategy-choice.js';

/** What the machine and the Redis of a run bear; told before anything runs. */

/** Beside its sockets a Node process holds modules, pipes, timers. */
const OTHER_FILES = 64;
/** A hash of three short fields under a short key: 164 measured with 300,000 of them on Redis 7.0.15; tables grow in steps. */
const BYTES_PER_ENTRY: Bytes = 180;
const USABLE_SHARE = 0.5;
/** The one that watches, and the runner's own. */
const WATCHING = 2;

export interface ConnectionNeeds {
  readonly choices: readonly StrategyChoice[];
  readonly apps: number;
  /** Of the user: their connections to Redis are their own business. */
  readonly appsAreGiven: boolean;
  readonly producers: number;
  readonly users: number;
}

/** Soft limit of open files of this process, which its children inherit; Infinity where the system does not tell. */
export function openFileLimit(): number {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'));
    return found === null ? Number.POSITIVE_INFINITY : Number(found[1]);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** As many users as one process that makes load, and one app, can hold sockets for. */
export function mostUsers(
  { choices, apps, producers }: Omit<ConnectionNeeds, 'users'>,
  limit = openFileLimit(),
): number {
  const toRedis = 1 + largestPool(choices);
  // A connection per request doubles the sockets of an app.
  const perUser = choices.some(({ strategy }) => strategy.capabilities.connectionsPerUse > 0) ? 2 : 1;
  const inApp = Math.floor((limit - OTHER_FILES - toRedis) / perUser) * apps;
  return Math.max(0, Math.min(inApp, (limit - OTHER_FILES) * producers));
}

/** @throws {WeirError} USAGE when more files would be open in a process than it may open */
export function refuseBeyondOpenFiles(needs: ConnectionNeeds, limit = openFileLimit()): void {
  const pool = largestPool(needs.choices);
  if (!needs.appsAreGiven && pool + 1 > limit - OTHER_FILES) {
    throw usageError(
      '--pool',
      String(pool),
      `below ${limit - OTHER_FILES}: a process may open ${limit} files here (ulimit -n)`,
    );
  }
  const most = mostUsers(needs, limit);
  if (needs.users <= most) return;
  throw usageError(
    '--users',
    String(needs.users),
    `at most ${most} here, with these pools, --apps and --producers: a process may open ${limit} files (ulimit -n)`,
  );
}

/** @throws {WeirError} USAGE when the entries would take more than half of the free memory */
export function refuseBeyondMemory(entries: number, usable = freemem() * USABLE_SHARE): void {
  const needed = memoryOf(entries);
  if (needed <= usable) return;
  throw new WeirError(
    'USAGE',
    `${entries} entries need about ${formatBytes(needed)} in Redis; ${formatBytes(usable)} may be used here`,
    { remedy: 'choose fewer --entries' },
  );
}

export function memoryOf(entries: number): Bytes {
  return entries * BYTES_PER_ENTRY;
}

/**
 * Asks Redis how many connections it takes.
 * @throws {WeirError} USAGE when a strategy would open more
 */
export async function refuseBeyondMaxClients(redis: RedisClient, needs: ConnectionNeeds): Promise<void> {
  if (needs.appsAreGiven) return;
  const info = parseInfo(String(await redis.send(['INFO', 'clients'])));
  const maxClients = Number(info.get('maxclients'));
  const connected = Number(info.get('connected_clients'));
  // Servers before Redis 6.2 do not tell.
  if (!Number.isFinite(maxClients)) return;
  for (const choice of needs.choices) {
    const most = connectionsOf(choice, needs);
    if (connected + most <= maxClients) continue;
    throw new WeirError(
      'USAGE',
      `${choice.label} may open ${most} connections with ${needs.apps} apps; ${connected} are open, and this Redis ` +
        `takes ${maxClients} (maxclients)`,
      { remedy: 'choose a smaller --pool, fewer --apps or fewer --users, or raise maxclients' },
    );
  }
}

function connectionsOf({ strategy, ...options }: StrategyChoice, { apps, users }: ConnectionNeeds): number {
  const { idleConnections, connectionsPerUse } = strategy.capabilities;
  return WATCHING + apps * (1 + idleConnections(options)) + users * connectionsPerUse;
}

function largestPool(choices: readonly StrategyChoice[]): number {
  return Math.max(
    0,
    ...choices.map(({ strategy, ...options }) => strategy.capabilities.idleConnections(options)),
  );
}
