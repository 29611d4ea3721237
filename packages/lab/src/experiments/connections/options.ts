import { usageError } from '../../core/errors.js';
import {
  parseChoice,
  parseInteger,
  parseList,
  parsePositive,
  parseShare,
  textOf,
} from '../../core/parse-option.js';
import type { Milliseconds } from '../../core/units.js';
import { type ClientLibrary, clientLibrary } from '../../redis/clients.js';
import type { CommonOptions, OptionDefinition, RawOptions } from '../experiment.js';
import { type GivenApp, parseApps } from './given-apps.js';
import { mostUsers, refuseBeyondMemory, refuseBeyondOpenFiles } from './limits.js';
import { parseChoices, type StrategyChoice } from './strategy-choice.js';

const REQUESTS = ['get', 'save'] as const;
export type PointRequest = (typeof REQUESTS)[number];

/** The checked options of `weir run connections`. */
export interface ConnectionsOptions {
  readonly choices: readonly StrategyChoice[];
  /** Apps of the user, compared instead of strategies. */
  readonly givenApps: readonly GivenApp[];
  readonly clients: readonly ClientLibrary[];
  readonly request: PointRequest;
  readonly entries: number;
  /** Share of the lookups that find something, 0 to 1. */
  readonly hitRate: number;
  /** Connections to the apps; in a closed load each asks again when it is answered. */
  readonly users: number;
  /** What was wanted and the machine does not bear; undefined when it does. */
  readonly usersWanted: number | undefined;
  /** Requests per second of an open load, a factor; without any the load is closed. */
  readonly rates: readonly number[];
  readonly apps: number;
  readonly producers: number;
  readonly keyPrefix: string;
  readonly durationMs: Milliseconds;
  readonly warmUpMs: Milliseconds;
  readonly asPublished: boolean;
}

const DEFAULT_ENTRIES = 100_000;
const MOST_ENTRIES = 10_000_000;
/** As published. */
const DEFAULT_USERS = 740;
const MOST_USERS = 100_000;
const MOST_PER_SECOND = 1_000_000;
const SECONDS = { quick: { duration: 1, warmUp: 0.5 }, longer: { duration: 10, warmUp: 3 } };

export const OPTIONS = [
  {
    flags: '--strategy <names>',
    description: 'connection strategies to compare; the first is the baseline',
    defaultText: 'per-request,pool,multiplexed',
  },
  {
    flags: '--pool <sizes>',
    description: 'connections of a pool; each size is compared',
    defaultText: '8,128',
  },
  {
    flags: '--test-on-borrow',
    description:
      'compare each pool also with a PING before every use (pool-8-tested), to see what that costs',
  },
  {
    flags: '--auto-pipelining',
    description:
      'compare multiplexed also with automatic pipelining (multiplexed-auto); node-redis and valkey-glide always have it',
  },
  {
    flags: '--client <libraries>',
    description: 'client libraries; several are compared',
    defaultText: 'node-redis',
  },
  { flags: '--request <name>', description: 'get (looks a random id up) or save', defaultText: 'get' },
  { flags: '--entries <count>', description: 'hashes in Redis, up to 10000000', defaultText: '100000' },
  {
    flags: '--hit-rate <share>',
    description: 'share of the lookups that find something, 0 to 1; held against what Redis counts',
    defaultText: '1',
  },
  {
    flags: '--users <count>',
    description: 'connections to the apps; in a closed load each asks again when it is answered',
    defaultText: '740, or what the machine bears',
  },
  { flags: '--rate <per-second>', description: 'open load: requests per second, answered or not' },
  {
    flags: '--rate-sweep <rates>',
    description: 'open load at each of these rates: latency against rate, and where it breaks down',
  },
  { flags: '--apps <count>', description: 'processes of the web app', defaultText: '1' },
  { flags: '--producers <count>', description: 'processes that make the load', defaultText: '1' },
  {
    flags: '--duration <seconds>',
    description: 'length of the load of one trial',
    defaultText: '10, with --quick 1',
  },
  { flags: '--warm-up <seconds>', description: 'load before that', defaultText: '3, with --quick 0.5' },
  {
    flags: '--app <name=url,...>',
    description:
      'compare web apps of yours under these names; they must use the Redis of --redis, if it is given',
    defaultText: 'started by weir',
  },
  { flags: '--key-prefix <text>', description: 'put before the keys', defaultText: 'none' },
  {
    flags: '--as-published',
    description: 'also replay the published method, once, and show it beside the result',
  },
] as const satisfies readonly OptionDefinition[];

/**
 * Reads and checks the option texts.
 * @throws {WeirError} USAGE, UNKNOWN_NAME, or CLIENT_MISSING
 */
export async function parseOptions(
  raw: RawOptions,
  { precision }: CommonOptions,
): Promise<ConnectionsOptions> {
  const text = (name: string, fallback: string): string => textOf(raw[name]) ?? fallback;
  const defaults = precision === 'quick' ? SECONDS.quick : SECONDS.longer;
  const givenApps = parseApps(raw);
  const count = (flag: string, value: string, max: number): number =>
    parseInteger(flag, value, { min: 1, max });
  const request = parseChoice('--request', text('request', 'get'), REQUESTS);
  if (request === 'save' && raw.hitRate !== undefined) {
    throw usageError('--hit-rate', raw.hitRate, 'left out with --request save, which looks nothing up');
  }
  const entries = count('--entries', text('entries', String(DEFAULT_ENTRIES)), MOST_ENTRIES);
  refuseBeyondMemory(entries);
  const needs = {
    choices: await parseChoices(raw),
    apps: count('--apps', text('apps', '1'), 64),
    appsAreGiven: givenApps.length > 0,
    producers: count('--producers', text('producers', '1'), 64),
  };
  const bearable = Math.min(DEFAULT_USERS, mostUsers(needs));
  const users = count('--users', text('users', String(bearable)), MOST_USERS);
  const fewest = needs.apps * needs.producers;
  if (users < fewest) {
    throw usageError(
      '--users',
      String(users),
      `at least ${fewest}: one for each of --apps from each of --producers`,
    );
  }
  refuseBeyondOpenFiles({ ...needs, users });
  return {
    choices: needs.choices,
    givenApps,
    clients: parseList('--client', text('client', 'node-redis')).map(clientLibrary),
    request,
    entries,
    hitRate: parseShare('--hit-rate', text('hitRate', '1')),
    users,
    usersWanted: typeof raw.users !== 'string' && users < DEFAULT_USERS ? DEFAULT_USERS : undefined,
    rates: parseRates(raw),
    apps: needs.apps,
    producers: needs.producers,
    keyPrefix: text('keyPrefix', ''),
    durationMs: parsePositive('--duration', text('duration', String(defaults.duration)), 86_400) * 1000,
    warmUpMs: parsePositive('--warm-up', text('warmUp', String(defaults.warmUp)), 3_600) * 1000,
    asPublished: raw.asPublished === true,
  };
}

function parseRates({ rate, rateSweep }: RawOptions): number[] {
  if (typeof rate === 'string' && typeof rateSweep === 'string') {
    throw usageError('--rate', rate, 'left out with --rate-sweep');
  }
  if (typeof rate === 'string') return [parsePositive('--rate', rate, MOST_PER_SECOND)];
  if (typeof rateSweep !== 'string') return [];
  const rates = parseList('--rate-sweep', rateSweep).map((each) =>
    parsePositive('--rate-sweep', each, MOST_PER_SECOND),
  );
  if (rates.length < 2) throw usageError('--rate-sweep', rateSweep, 'several rates: 500,1000,2000');
  return rates.sort((a, b) => a - b);
}
