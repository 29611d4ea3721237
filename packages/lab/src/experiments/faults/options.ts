import { join } from 'node:path';
import type { MessagingPattern } from '@weir/patterns';
import { unknownName, usageError, WeirError } from '../../core/errors.js';
import { loadPatterns } from '../../core/load-patterns.js';
import { parseChoice, parseInteger, parseList, parsePositive, textOf } from '../../core/parse-option.js';
import type { Milliseconds } from '../../core/units.js';
import {
  CRASH_POINTS,
  type CrashPoint,
  type Fault,
  PERSISTENCE,
  type Persistence,
} from '../../faults/fault.js';
import { loadFaults } from '../../faults/load-faults.js';
import { type ClientLibrary, clientLibrary, faultTolerantLibraries } from '../../redis/clients.js';
import { resolveStore } from '../../stores/load-stores.js';
import { SMALLEST_PAYLOAD_BYTES } from '../../workers/payload.js';
import type { CommonOptions, OptionDefinition, RawOptions } from '../experiment.js';
import { pointsOf } from './cases.js';

/** The checked options of `weir run faults`. */
export interface FaultsOptions {
  readonly patterns: readonly MessagingPattern[];
  readonly faults: readonly Fault[];
  /** Where faults strike; empty: each at its own first point. */
  readonly points: readonly CrashPoint[];
  /** How Redis persists; empty: as each fault says. */
  readonly persistence: readonly Persistence[];
  readonly messages: number;
  /** Sends per second. */
  readonly perSecond: number;
  /** `handler-throws` refuses every so many messages. */
  readonly every: number;
  readonly batch: number;
  readonly payloadBytes: number;
  /** Consumers where they compete; `undefined`: as each fault needs. */
  readonly consumers: number | undefined;
  readonly client: ClientLibrary;
  readonly outageMs: Milliseconds;
  readonly leaseMs: Milliseconds;
  readonly blockMs: Milliseconds;
  readonly retryDelaysMs: readonly Milliseconds[];
  /** Address of the store the handlers write to. */
  readonly store: string;
  readonly storeIsOurs: boolean;
  readonly offset: 'redis' | 'store';
  readonly keyPrefix: string;
  readonly asPublished: boolean;
  /** Program of the servers that are started for the trials. */
  readonly serverPath: string | undefined;
}

const DEFAULTS = {
  quick: { messages: '400', outageMs: 500, leaseMs: 400, blockMs: 100, retryDelaysMs: [20, 40, 80] },
  longer: { messages: '2000', outageMs: 3000, leaseMs: 1500, blockMs: 200, retryDelaysMs: [100, 200, 400] },
} as const;
/** The load goes on for this many outages, so that it is there before, during and after one. */
const OUTAGES_OF_LOAD = 2;
const MOST_MESSAGES = 1_000_000;
const LONGEST_MS = 600_000;

export const OPTIONS: readonly OptionDefinition[] = [
  { flags: '--patterns <names>', description: 'patterns, comma separated', defaultText: 'all' },
  {
    flags: '--faults <names>',
    description: 'faults, comma separated (weir list faults)',
    defaultText: 'all',
  },
  {
    flags: '--crash-point <names>',
    description: `where a fault strikes: ${CRASH_POINTS.join(', ')}`,
    defaultText: 'after-read',
  },
  {
    flags: '--persistence <names>',
    description: `append-only file of Redis: ${PERSISTENCE.join(', ')}`,
    defaultText: 'those that matter to each fault',
  },
  { flags: '--messages <count>', description: 'messages per trial', defaultText: '2000, quick 400' },
  {
    flags: '--rate <per second>',
    description: 'sends per second',
    defaultText: 'so that the load outlasts the outage',
  },
  { flags: '--every <n>', description: 'handler-throws refuses every nth message', defaultText: '4' },
  { flags: '--batch <count>', description: 'most messages in one handler call', defaultText: '10' },
  {
    flags: '--consumers <count>',
    description: 'consumers, for patterns whose consumers share the work',
    defaultText: 'as each fault needs: 1 or 2',
  },
  { flags: '--payload <bytes>', description: 'size of a body', defaultText: '100' },
  { flags: '--client <name>', description: 'client library', defaultText: 'node-redis' },
  { flags: '--outage <ms>', description: 'how long an outage lasts', defaultText: '3000, quick 500' },
  {
    flags: '--lease <ms>',
    description: 'after so long a silent consumer counts as dead',
    defaultText: '1500, quick 400',
  },
  { flags: '--block <ms>', description: 'how long a read waits for messages', defaultText: '200, quick 100' },
  {
    flags: '--store <address>',
    description: 'where handlers write to: sqlite:FILE, mysql://..., postgres://...',
    defaultText: 'a SQLite file of the run',
  },
  {
    flags: '--offset <place>',
    description: 'where readers keep their offset: redis, or store (in the transaction of the handler)',
    defaultText: 'redis',
  },
  { flags: '--key-prefix <text>', description: 'put before every key', defaultText: 'weir:' },
  {
    flags: '--as-published',
    description: 'also replays the published scenario: every 4th of 100 messages fails',
  },
];

/** @throws {WeirError} USAGE, UNKNOWN_NAME or CLIENT_MISSING */
export async function parseOptions(raw: RawOptions, common: CommonOptions): Promise<FaultsOptions> {
  const text = (name: string): string | undefined => textOf(raw[name]);
  const defaults = DEFAULTS[common.precision === 'quick' ? 'quick' : 'longer'];
  const millis = (option: string, name: string, fallback: number): number =>
    parseInteger(option, text(name) ?? String(fallback), { min: 1, max: LONGEST_MS });

  const blockMs = millis('--block', 'block', defaults.blockMs);
  const leaseMs = millis('--lease', 'lease', defaults.leaseMs);
  if (leaseMs <= blockMs) {
    throw usageError(
      '--lease',
      String(leaseMs),
      `a number of milliseconds above --block (${blockMs}): a consumer that only waits is not dead`,
    );
  }
  const outageMs = millis('--outage', 'outage', defaults.outageMs);
  const messages = parseInteger('--messages', text('messages') ?? defaults.messages, {
    min: 20,
    max: MOST_MESSAGES,
  });
  const store = text('store') ?? `sqlite:${join(common.temporaryFolder, 'faults.db')}`;
  const driver = await resolveStore(store);
  driver.validate(store);
  if (driver.keeps === false)
    throw usageError('--store', store, 'a store that keeps rows, so that effects can be counted');

  const [rate, consumers] = [text('rate'), text('consumers')];
  const points = choices('--crash-point', text('crashPoint'), CRASH_POINTS);
  const faults = refuseImpossible(
    await chosen('fault', '--faults', text('faults'), await loadFaults()),
    raw,
    common,
  );
  if (text('faults') !== undefined) refuseMissingPoints(faults, points);

  return {
    patterns: await chosen('pattern', '--patterns', text('patterns'), await loadPatterns()),
    faults,
    points,
    persistence: choices('--persistence', text('persistence'), PERSISTENCE),
    messages,
    perSecond:
      rate === undefined
        ? (messages * 1000) / (outageMs * OUTAGES_OF_LOAD)
        : parsePositive('--rate', rate, 1_000_000),
    every: parseInteger('--every', text('every') ?? '4', { min: 1, max: messages }),
    batch: parseInteger('--batch', text('batch') ?? '10', { min: 1, max: 1000 }),
    consumers:
      consumers === undefined ? undefined : parseInteger('--consumers', consumers, { min: 1, max: 64 }),
    payloadBytes: parseInteger('--payload', text('payload') ?? '100', {
      min: SMALLEST_PAYLOAD_BYTES,
      max: 1024 * 1024,
    }),
    client: faultTolerantClient(text('client') ?? 'node-redis'),
    outageMs,
    leaseMs,
    blockMs,
    retryDelaysMs: defaults.retryDelaysMs,
    store,
    storeIsOurs: text('store') === undefined,
    offset: parseChoice('--offset', text('offset') ?? 'redis', ['redis', 'store']),
    keyPrefix: text('keyPrefix') ?? 'weir:',
    asPublished: raw.asPublished === true,
    serverPath: common.redis.serverPath,
  };
}

/** @throws {WeirError} UNKNOWN_NAME, CLIENT_MISSING, or USAGE for one that hides what a fault does to it */
function faultTolerantClient(name: string): ClientLibrary {
  const client = clientLibrary(name);
  if (faultTolerantLibraries.includes(client)) return client;
  throw usageError(
    '--client',
    name,
    `a library that tells when it loses its connection: ${faultTolerantLibraries.join(', ')}`,
  );
}

async function chosen<Variant extends object>(
  kind: string,
  option: string,
  text: string | undefined,
  known: ReadonlyMap<string, Variant>,
): Promise<Variant[]> {
  if (text === undefined) return [...known.values()].filter((variant) => !isOnlyByName(variant));
  return parseList(option, text).map((name) => {
    const variant = known.get(name);
    if (variant === undefined) throw unknownName(kind, name, [...known.keys()]);
    return variant;
  });
}

function isOnlyByName(variant: object): boolean {
  return 'onlyByName' in variant && variant.onlyByName === true;
}

function choices<Choice extends string>(
  option: string,
  text: string | undefined,
  known: readonly Choice[],
): Choice[] {
  return text === undefined ? [] : parseList(option, text).map((word) => parseChoice(option, word, known));
}

/**
 * On a Redis that weir did not start, nothing is killed, restarted or emptied. Asked for by name, such a fault is refused;
 * otherwise it is left out, which the plan shows.
 */
function refuseImpossible(
  faults: readonly Fault[],
  raw: RawOptions,
  { redis }: CommonOptions,
): readonly Fault[] {
  if (redis.url === undefined) return faults;
  const impossible = faults.filter(({ needsOwnServer }) => needsOwnServer === true).map(({ name }) => name);
  if (raw.faults !== undefined && impossible.length > 0) {
    throw new WeirError('USAGE', `${impossible.join(', ')}: not possible with --redis`, {
      remedy:
        'weir ends, restarts, empties and reconfigures only servers that it has started itself: leave --redis out, or name other faults',
    });
  }
  if (raw.persistence !== undefined) {
    throw new WeirError(
      'USAGE',
      '--persistence is not possible with --redis: its configuration is not ours',
      {
        remedy: 'leave --redis out',
      },
    );
  }
  return faults.filter(({ needsOwnServer }) => needsOwnServer !== true);
}

/** A fault that was asked for by name and has none of the points would not be tried at all. */
function refuseMissingPoints(faults: readonly Fault[], asked: readonly CrashPoint[]): void {
  const without = faults.find((fault) => pointsOf(fault, asked).length === 0);
  if (without === undefined) return;
  throw new WeirError('USAGE', `${without.name} cannot strike ${asked.join(', ')}`, {
    remedy: `its points: ${without.points.join(', ')}`,
  });
}
