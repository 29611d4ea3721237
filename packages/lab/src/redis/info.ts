import type { RedisClient } from '@weir/patterns';
import type { Milliseconds } from '../core/units.js';

/** INFO as text by field: `used_memory` -> `916544`. Sections only group the fields, whose names are unique. */
export type Info = ReadonlyMap<string, string>;

export interface CommandStatistics {
  readonly calls: number;
  /** CPU time in microseconds. */
  readonly usec: number;
  readonly failedCalls: number;
  readonly rejectedCalls: number;
}

/** The server's counters at one moment. */
export interface RedisSnapshot {
  /** When the answer came, on the clock of `performance.now()`. */
  readonly takenAtMs: Milliseconds;
  readonly info: Info;
}

/** What the server did between two snapshots; the `RedisFigures` of a result. */
export interface RedisDifference {
  /** Cores used by all threads of the server, its forked children left out. */
  readonly cpu: number;
  /** Cores used by the thread that runs commands; null before Redis 6.2, which does not tell. */
  readonly mainThreadCpu: number | null;
  readonly commands: number;
  /** Connected at the second snapshot, ours included. */
  readonly connections: number;
  readonly connectionsMade: number;
  readonly netInputBytes: number;
  readonly netOutputBytes: number;
  /** At the second snapshot. */
  readonly usedMemoryBytes: number;
  /** By command in lower case, subcommands as `config|get`; commands that were not called are left out. */
  readonly commandstats: Record<string, CommandStatistics>;
}

export interface ServerIdentity {
  readonly software: 'redis' | 'valkey';
  readonly version: string;
  /** New at each start of the server. */
  readonly runId: string;
  readonly processId: number;
}

/** Reads the lines of INFO; headings and empty lines are skipped. */
export function parseInfo(text: string): Info {
  const fields = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon > 0 && !line.startsWith('#')) fields.set(line.slice(0, colon), line.slice(colon + 1));
  }
  return fields;
}

/**
 * Asks for all counters. It is one command of some 100 µs on the server, so it is sent at the edges of the window
 * and not within.
 * @throws what `RedisClient.send` throws
 */
export async function snapshot(client: RedisClient): Promise<RedisSnapshot> {
  const reply = await client.send(['INFO', 'all']);
  return { takenAtMs: performance.now(), info: parseInfo(String(reply)) };
}

/** Which server it is. Valkey reports a `redis_version` too, for the sake of old clients. */
export function identity({ info }: RedisSnapshot): ServerIdentity {
  const valkey = info.get('valkey_version');
  return {
    software: valkey === undefined ? 'redis' : 'valkey',
    version: valkey ?? info.get('redis_version') ?? 'unknown',
    runId: info.get('run_id') ?? 'unknown',
    processId: numberOf(info, 'process_id'),
  };
}

/** What changed from one snapshot to the other. */
export function difference(before: RedisSnapshot, after: RedisSnapshot): RedisDifference {
  const seconds = (after.takenAtMs - before.takenAtMs) / 1_000;
  const grown = (field: string): number =>
    increase(numberOf(before.info, field), numberOf(after.info, field));
  const cores = (thread: string): number =>
    seconds > 0 ? (grown(`used_cpu_user${thread}`) + grown(`used_cpu_sys${thread}`)) / seconds : 0;
  return {
    cpu: cores(''),
    mainThreadCpu: after.info.has('used_cpu_user_main_thread') ? cores('_main_thread') : null,
    commands: grown('total_commands_processed'),
    connections: numberOf(after.info, 'connected_clients'),
    connectionsMade: grown('total_connections_received'),
    netInputBytes: grown('total_net_input_bytes'),
    netOutputBytes: grown('total_net_output_bytes'),
    usedMemoryBytes: numberOf(after.info, 'used_memory'),
    commandstats: commandstatsBetween(before.info, after.info),
  };
}

const COMMANDSTATS = 'cmdstat_';

function commandstatsBetween(before: Info, after: Info): Record<string, CommandStatistics> {
  const changed: Record<string, CommandStatistics> = {};
  for (const [field, text] of after) {
    if (!field.startsWith(COMMANDSTATS)) continue;
    const now = statisticsOf(text);
    const then = statisticsOf(before.get(field) ?? '');
    const between = {
      calls: increase(then.calls, now.calls),
      usec: increase(then.usec, now.usec),
      failedCalls: increase(then.failedCalls, now.failedCalls),
      rejectedCalls: increase(then.rejectedCalls, now.rejectedCalls),
    };
    // A rejected command (wrong arity, no permission) is not counted as a call.
    if (between.calls > 0 || between.rejectedCalls > 0) {
      changed[field.slice(COMMANDSTATS.length).toLowerCase()] = between;
    }
  }
  return changed;
}

/** `calls=2,usec=31,usec_per_call=15.50,rejected_calls=0,failed_calls=0`; the last two since Redis 6.2. */
function statisticsOf(text: string): CommandStatistics {
  const values = new Map(text.split(',').map((pair) => [pair.split('=')[0], Number(pair.split('=')[1])]));
  return {
    calls: values.get('calls') ?? 0,
    usec: values.get('usec') ?? 0,
    failedCalls: values.get('failed_calls') ?? 0,
    rejectedCalls: values.get('rejected_calls') ?? 0,
  };
}

/**
 * How much a counter grew. A counter that went down was reset (restart, CONFIG RESETSTAT) and has counted from
 * zero since: the rule of Prometheus' `increase()`.
 */
function increase(before: number, after: number): number {
  return after >= before ? after - before : after;
}

function numberOf(info: Info, field: string): number {
  const value = Number(info.get(field) ?? 0);
  return Number.isFinite(value) ? value : 0;
}
