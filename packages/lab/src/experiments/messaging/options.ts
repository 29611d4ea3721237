import { join } from 'node:path';
import type { MessagingPattern } from '@weir/patterns';
import { unknownName, usageError } from '../../core/errors.js';
import { loadPatterns } from '../../core/load-patterns.js';
import { parseChoice, parseInteger, parseList, parsePositive, textOf } from '../../core/parse-option.js';
import { type ClientLibrary, clientLibrary } from '../../redis/clients.js';
import { resolveStore } from '../../stores/load-stores.js';
import type { LoadEnd } from '../../workers/messaging-api.js';
import { SMALLEST_PAYLOAD_BYTES } from '../../workers/payload.js';
import type { CommonOptions, OptionDefinition, RawOptions } from '../experiment.js';
import { parseVia, VIA_OPTIONS, type Via } from './via.js';

export const MODES = ['capacity', 'rate', 'backlog'] as const;
export type Mode = (typeof MODES)[number];

/** The checked options of `weir run messaging`. */
export interface MessagingOptions {
  readonly patterns: readonly MessagingPattern[];
  readonly clients: readonly ClientLibrary[];
  /** Most messages in one handler call: a factor. */
  readonly batches: readonly number[];
  readonly mode: Mode;
  /** Of one trial, all producers together. */
  readonly until: LoadEnd;
  /** Sends per second, all producers together; only in rate mode. */
  readonly perSecond: number | undefined;
  readonly payloadBytes: number;
  readonly producers: number;
  readonly consumers: number;
  /** Messages in one send of a producer. */
  readonly bulk: number;
  /** Messages between send and handled, all producers together, in capacity mode. */
  readonly inFlight: number;
  /** Address of the store a handler writes to. */
  readonly store: string;
  /** The store is a file of this run: emptied before each trial, removed at the end. */
  readonly storeIsOurs: boolean;
  readonly keyPrefix: string;
  /** Which way the messages take. */
  readonly via: Via;
  /** The published method is replayed as well. */
  readonly asPublished: boolean;
  readonly warmUp: WarmUp;
  /** How long to wait for messages that do not come, in milliseconds. */
  readonly drainDeadlineMs: number;
}

export interface WarmUp {
  /** Width of one window, in milliseconds; it settles when five in a row vary by 2 % or less. */
  readonly windowMs: number;
  /** Ends the warm-up, settled or not. */
  readonly capMs: number;
}

const DEFAULT_MESSAGES = { quick: 2_000, longer: 100_000 };
const WARM_UP_SECONDS = { quick: 0.2, longer: 3 };
/** Five of these are the least that can settle; a longer warm-up has more of them, not wider ones. */
const WIDEST_WARM_UP_WINDOW_MS = 200;
const WARM_UP_WINDOWS = 5;
/** Bytes under way at once, so that a large payload cannot overrun a subscriber's output buffer (8 MB soft limit). */
const BYTES_IN_FLIGHT = 4_000_000;
const MAX_IN_FLIGHT = 10_000;
const LEAST_IN_FLIGHT = 500;
const DEFAULT_BULK = 100;

export const OPTIONS = [
  {
    flags: '--patterns <names>',
    description: 'patterns to compare; the first is the baseline',
    defaultText: 'all',
  },
  {
    flags: '--messages <count>',
    description: 'messages of one trial',
    defaultText: '100000, with --quick 2000',
  },
  { flags: '--duration <seconds>', description: 'length of the load of one trial, instead of --messages' },
  { flags: '--payload <bytes>', description: 'size of a message body', defaultText: '100' },
  {
    flags: '--batch <sizes>',
    description: 'most messages in one handler call, 1 to 1000; several are compared',
    defaultText: '100',
  },
  {
    flags: '--bulk <count>',
    description: 'messages in one send of a producer, 1 to 1000',
    defaultText: '100, with --via http 1',
  },
  {
    flags: '--warm-up <seconds>',
    description: 'longest warm-up of a trial; it ends when the rate has settled; 0 for none',
    defaultText: '3, with --quick 0.2',
  },
  { flags: '--producers <count>', description: 'producer processes', defaultText: '1' },
  { flags: '--consumers <count>', description: 'consumer processes', defaultText: '1' },
  {
    flags: '--client <libraries>',
    description: 'client libraries; several are compared',
    defaultText: 'node-redis',
  },
  {
    flags: '--store <address>',
    description:
      'where the handler writes messages, one transaction per batch: none, sqlite (a temporary file), sqlite:FILE, mysql://…, postgres://…',
    defaultText: 'none',
  },
  {
    flags: '--mode <mode>',
    description:
      'capacity (as fast as it goes), rate (open loop at --rate), backlog (produce all, then consume)',
    defaultText: 'capacity',
  },
  { flags: '--rate <per-second>', description: 'messages per second of rate mode' },
  {
    flags: '--in-flight <count>',
    description: 'messages between send and handled in capacity mode',
    defaultText: 'a tenth of the messages, 500 to 10000, at most 4 MB',
  },
  {
    flags: '--key-prefix <text>',
    description: 'put before the keys and channels of the patterns',
    defaultText: 'none',
  },
  ...VIA_OPTIONS,
  {
    flags: '--as-published',
    description: 'also replay the published method, once, and show it beside the result',
  },
] as const satisfies readonly OptionDefinition[];

/** Reads and checks the option texts. */
export async function parseOptions(raw: RawOptions, common: CommonOptions): Promise<MessagingOptions> {
  const text = (name: string, fallback: string): string => textOf(raw[name]) ?? fallback;
  const quick = common.precision === 'quick';
  const mode = parseChoice('--mode', text('mode', 'capacity'), MODES);
  const batches = parseList('--batch', text('batch', '100')).map((size) =>
    parseInteger('--batch', size, { min: 1, max: 1000 }),
  );
  const payloadBytes = parseInteger('--payload', text('payload', '100'), {
    min: SMALLEST_PAYLOAD_BYTES,
    max: 16 * 1024 * 1024,
  });
  const until = parseEnd(raw, quick, mode);
  const inFlight = parseInteger(
    '--in-flight',
    text('inFlight', String(defaultInFlight(until, payloadBytes))),
    {
      min: 1,
      max: 1_000_000,
    },
  );
  const store = await parseStore(text('store', 'none'), common);
  const via = parseVia(raw, { payloadBytes, mode });
  const remote = via.kind === 'http' ? via.remote : undefined;
  // The original's way over HTTP is one message a request.
  const defaultBulk = via.kind === 'http' ? 1 : Math.min(DEFAULT_BULK, inFlight);
  return {
    patterns: await parsePatterns(raw.patterns, mode),
    clients: parseClients(text('client', 'node-redis')),
    batches,
    mode,
    until,
    perSecond: parseRate(raw.rate, mode),
    payloadBytes,
    producers: parseInteger('--producers', text('producers', '1'), { min: 1, max: 64 }),
    consumers: parseInteger('--consumers', text('consumers', String(remote?.consumers.length ?? 1)), {
      min: 1,
      max: 64,
    }),
    bulk: parseInteger('--bulk', text('bulk', String(defaultBulk)), {
      min: 1,
      max: Math.min(1000, inFlight),
    }),
    inFlight,
    ...store,
    keyPrefix: text('keyPrefix', ''),
    via,
    asPublished: raw.asPublished === true,
    warmUp: parseWarmUp(raw.warmUp, quick),
    drainDeadlineMs: 30_000,
  };
}

/** Wide enough never to be the limit, narrow enough that a short trial is a loop and not one burst. */
function defaultInFlight(until: LoadEnd, payloadBytes: number): number {
  const loop =
    'messages' in until ? Math.max(LEAST_IN_FLIGHT, Math.floor(until.messages / 10)) : MAX_IN_FLIGHT;
  return Math.max(1, Math.min(MAX_IN_FLIGHT, loop, Math.floor(BYTES_IN_FLIGHT / payloadBytes)));
}

async function parsePatterns(value: RawOptions[string], mode: Mode): Promise<MessagingPattern[]> {
  const known = await loadPatterns();
  const keepsBacklog = (pattern: MessagingPattern): boolean => pattern.capabilities.persistence;
  if (typeof value !== 'string') {
    return [...known.values()].filter((pattern) => mode !== 'backlog' || keepsBacklog(pattern));
  }
  return parseList('--patterns', value).map((name) => {
    const pattern = known.get(name);
    if (pattern === undefined) throw unknownName('pattern', name, [...known.keys()]);
    if (mode === 'backlog' && !keepsBacklog(pattern)) {
      throw usageError(
        '--patterns',
        name,
        'a pattern that keeps messages while no consumer runs, in --mode backlog',
      );
    }
    return pattern;
  });
}

function parseClients(text: string): ClientLibrary[] {
  return parseList('--client', text).map(clientLibrary);
}

/** `0` is no warm-up: the first messages are measured, cold. */
function parseWarmUp(value: RawOptions[string], quick: boolean): WarmUp {
  const fallback = quick ? WARM_UP_SECONDS.quick : WARM_UP_SECONDS.longer;
  const seconds =
    typeof value !== 'string' ? fallback : value === '0' ? 0 : parsePositive('--warm-up', value, 3_600);
  const capMs = seconds * 1000;
  return { capMs, windowMs: Math.min(WIDEST_WARM_UP_WINDOW_MS, capMs / WARM_UP_WINDOWS) };
}

function parseEnd(raw: RawOptions, quick: boolean, mode: Mode): LoadEnd {
  const { messages, duration } = raw;
  if (typeof messages === 'string' && typeof duration === 'string') {
    throw usageError('--duration', duration, 'left out when --messages is given');
  }
  if (typeof duration === 'string') {
    if (mode === 'backlog')
      throw usageError('--duration', duration, 'left out in --mode backlog: give --messages');
    return { durationMs: parsePositive('--duration', duration, 86_400) * 1000 };
  }
  const fallback = String(quick ? DEFAULT_MESSAGES.quick : DEFAULT_MESSAGES.longer);
  return {
    messages: parseInteger('--messages', typeof messages === 'string' ? messages : fallback, {
      min: 1,
      max: 100_000_000,
    }),
  };
}

function parseRate(value: RawOptions[string], mode: Mode): number | undefined {
  if (mode === 'rate') {
    if (typeof value === 'string') return parsePositive('--rate', value, 10_000_000);
    throw usageError(
      '--rate',
      undefined,
      'given in --mode rate: messages per second, e.g. half of what --mode capacity measured',
    );
  }
  if (typeof value === 'string') throw usageError('--rate', value, 'left out, or --mode rate chosen');
  return undefined;
}

async function parseStore(
  text: string,
  common: CommonOptions,
): Promise<Pick<MessagingOptions, 'store' | 'storeIsOurs'>> {
  const storeIsOurs = text === 'sqlite';
  const store = storeIsOurs ? `sqlite:${join(common.temporaryFolder, 'messages.db')}` : text;
  (await resolveStore(store)).validate(store);
  return { store, storeIsOurs };
}
