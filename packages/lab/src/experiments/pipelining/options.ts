import { freemem } from 'node:os';
import { unknownName, usageError, WeirError } from '../../core/errors.js';
import { parseChoice, parseInteger, parseList, parsePositive, textOf } from '../../core/parse-option.js';
import { type Bytes, formatBytes, type Milliseconds } from '../../core/units.js';
import { type ClientLibrary, clientLibrary } from '../../redis/clients.js';
import { COMMANDS, type Command, METHODS, type Method } from '../../workers/pipelining-api.js';
import type { CommonOptions, OptionDefinition, RawOptions } from '../experiment.js';

/** The checked options of `weir run pipelining`. */
export interface PipeliningOptions {
  readonly methods: readonly Method[];
  readonly depths: readonly number[];
  readonly clients: readonly ClientLibrary[];
  /** Added by a proxy; undefined: no proxy. */
  readonly roundTripsMs: readonly Milliseconds[] | undefined;
  readonly command: Command;
  readonly operations: number;
  readonly valueBytes: Bytes;
  readonly keyPrefix: string;
  readonly time: TrialTime;
  readonly asPublished: boolean;
}

export interface TrialTime {
  readonly warmUpMs: Milliseconds;
  /** The operations are repeated until this much time has passed. */
  readonly leastMs: Milliseconds;
  /** A trial ends within a pass when it has passed: one by one over a long round trip. */
  readonly mostMs: Milliseconds;
}

const TIME = {
  quick: { warmUpMs: 150, leastMs: 200, mostMs: 1_000 },
  longer: { warmUpMs: 1_000, leastMs: 1_000, mostMs: 10_000 },
};
const DEFAULT_DEPTHS = '1,2,4,8,16,32,64,128,256,512,1024,10000';
const MOST_OPERATIONS = 10_000_000;
const MOST_ROUND_TRIP_MS = 10_000;
/** Of one operation under way in Node: command, arguments, promise, outcome, reply (measured: 0.6 to 1.5 kB). */
const BYTES_PER_OPERATION: Bytes = 2_000;
/** A value exists as a string, in the socket's buffer and in Redis. */
const COPIES_OF_A_VALUE = 3;
/** Of the memory that is free now. */
const USABLE_SHARE = 0.5;

export const OPTIONS = [
  {
    flags: '--methods <names>',
    description: `ways to send, of ${METHODS.join(', ')}; several are compared, the first is the baseline`,
    defaultText: 'pipeline',
  },
  {
    flags: '--depth <counts>',
    description:
      'commands that wait for their answers together; several are compared, the first is the baseline',
    defaultText: `${DEFAULT_DEPTHS}, with --quick 1,16,128,1024`,
  },
  {
    flags: '--client <libraries>',
    description: 'client libraries; several are compared',
    defaultText: 'node-redis',
  },
  {
    flags: '--rtt <milliseconds>',
    description: 'round trip times to add, by a proxy; several are compared',
    defaultText: 'no proxy',
  },
  { flags: '--command <name>', description: `one of ${COMMANDS.join(', ')}`, defaultText: 'set' },
  {
    flags: '--operations <count>',
    description: 'operations of one pass, each on a key of its own',
    defaultText: '10000',
  },
  { flags: '--payload <bytes>', description: 'size of a value', defaultText: '16' },
  {
    flags: '--duration <seconds>',
    description:
      'how long a trial measures at least; warms up as long, up to 1 s, and ends after five times that',
    defaultText: '1, with --quick 0.2',
  },
  { flags: '--key-prefix <text>', description: 'put before the keys', defaultText: 'none' },
  {
    flags: '--as-published',
    description: 'replay the published method too (10,000 SETs plain, then in one pipeline, cold, once)',
  },
] as const satisfies readonly OptionDefinition[];

/**
 * Reads and checks the option texts.
 * @throws {WeirError} USAGE, UNKNOWN_NAME, or CLIENT_MISSING
 */
export function parseOptions(raw: RawOptions, { precision }: CommonOptions): PipeliningOptions {
  const text = (name: string, fallback: string): string => textOf(raw[name]) ?? fallback;
  const quick = precision === 'quick';
  const command = parseChoice('--command', text('command', 'set'), COMMANDS);
  const operations = parseInteger('--operations', text('operations', '10000'), {
    min: 1,
    max: MOST_OPERATIONS,
  });
  const valueBytes = parseInteger('--payload', text('payload', '16'), { min: 1, max: 16 * 1024 * 1024 });
  const depths = parseList('--depth', text('depth', quick ? '1,16,128,1024' : DEFAULT_DEPTHS)).map((depth) =>
    parseInteger('--depth', depth, { min: 1, max: MOST_OPERATIONS }),
  );
  refuseBeyondMemory(Math.max(operations, ...depths), valueBytes);
  const tooDeep = depths.find((depth) => depth > operations);
  if (tooDeep !== undefined && typeof raw.depth === 'string') {
    throw usageError('--depth', String(tooDeep), `at most --operations, which is ${operations}`);
  }
  return {
    methods: parseMethods(text('methods', 'pipeline'), command),
    depths: depths.filter((depth) => depth <= operations),
    clients: parseList('--client', text('client', 'node-redis')).map(clientLibrary),
    roundTripsMs: typeof raw.rtt === 'string' ? parseList('--rtt', raw.rtt).map(parseRoundTrip) : undefined,
    command,
    operations,
    valueBytes,
    keyPrefix: text('keyPrefix', ''),
    time: timeOf(raw.duration, quick),
    asPublished: raw.asPublished === true,
  };
}

function timeOf(duration: RawOptions[string], quick: boolean): TrialTime {
  const time = quick ? TIME.quick : TIME.longer;
  if (typeof duration !== 'string') return time;
  const leastMs = parsePositive('--duration', duration, 3_600) * 1000;
  return { leastMs, mostMs: 5 * leastMs, warmUpMs: Math.min(leastMs, TIME.longer.warmUpMs) };
}

function parseMethods(text: string, command: Command): Method[] {
  return parseList('--methods', text).map((name) => {
    const method = METHODS.find((known) => known === name);
    if (method === undefined) throw unknownName('method', name, METHODS);
    if (method === 'mset' && command !== 'set' && command !== 'get') {
      throw usageError(
        '--methods',
        name,
        `left out with --command ${command}: only SET and GET have MSET and MGET`,
      );
    }
    return method;
  });
}

function parseRoundTrip(text: string): Milliseconds {
  const value = /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
  if (!(value <= MOST_ROUND_TRIP_MS)) {
    throw usageError('--rtt', text, `a number of milliseconds from 0 to ${MOST_ROUND_TRIP_MS}`);
  }
  return value;
}

/** All operations exist before the clock starts, and a whole round is under way at once. */
function refuseBeyondMemory(count: number, valueBytes: Bytes): void {
  const needed = count * (BYTES_PER_OPERATION + COPIES_OF_A_VALUE * valueBytes);
  const usable = freemem() * USABLE_SHARE;
  if (needed <= usable) return;
  throw new WeirError(
    'USAGE',
    `${count} operations of ${valueBytes} bytes need about ${formatBytes(needed)} of memory; ` +
      `${formatBytes(usable)} may be used here`,
    { remedy: 'choose a smaller --depth, --operations or --payload' },
  );
}
