import { usageError } from '../../core/errors.js';
import { parseChoice, parseInteger, parseList } from '../../core/parse-option.js';
import { SMALLEST_IDENTIFIED_BYTES } from '../../workers/payload.js';
import type { OptionDefinition, RawOptions } from '../experiment.js';

/** Which way the messages of a trial take. */
export type Via =
  | { readonly kind: 'direct' }
  | {
      readonly kind: 'http';
      /** Keep-alive connections of one sender. */
      readonly connections: number;
      /** Services of the user; without them each trial starts its own. */
      readonly remote: RemoteServices | undefined;
    };

export interface RemoteServices {
  readonly producers: readonly string[];
  readonly consumers: readonly string[];
}

export const VIA_OPTIONS = [
  {
    flags: '--via <way>',
    description: 'direct (straight into Redis) or http (through the producer and consumer services)',
    defaultText: 'direct',
  },
  {
    flags: '--connections <count>',
    description: 'keep-alive connections of a sender with --via http, one request at a time on each',
    defaultText: '50',
  },
  {
    flags: '--producer <urls>',
    description: 'your producer services, with --via http; they must use the Redis of --redis',
    defaultText: 'started by weir',
  },
  { flags: '--consumer <urls>', description: 'your consumer services', defaultText: 'started by weir' },
] as const satisfies readonly OptionDefinition[];

/** What the other options are, as far as the way of the messages depends on them. */
export interface Surroundings {
  readonly payloadBytes: number;
  readonly mode: string;
}

/** Reads and checks the options of the way. @throws {WeirError} USAGE */
export function parseVia(raw: RawOptions, { payloadBytes, mode }: Surroundings): Via {
  const kind = parseChoice('--via', typeof raw.via === 'string' ? raw.via : 'direct', ['direct', 'http']);
  const given = ['connections', 'producer', 'consumer'].find((name) => raw[name] !== undefined);
  if (kind === 'direct') {
    if (given !== undefined) throw usageError(`--${given}`, raw[given], 'left out without --via http');
    return { kind };
  }
  if (mode === 'backlog') throw usageError('--mode', mode, 'capacity or rate with --via http');
  if (payloadBytes < SMALLEST_IDENTIFIED_BYTES) {
    throw usageError('--payload', payloadBytes, `at least ${SMALLEST_IDENTIFIED_BYTES} with --via http`);
  }
  const connections = typeof raw.connections === 'string' ? raw.connections : '50';
  return {
    kind,
    connections: parseInteger('--connections', connections, { min: 1, max: 10_000 }),
    remote: parseRemote(raw),
  };
}

/** Options that are the user's own business when the services are. */
const OF_THE_SERVICES = {
  store: '--store',
  keyPrefix: '--key-prefix',
  producers: '--producers',
  consumers: '--consumers',
} as const;

function parseRemote(raw: RawOptions): RemoteServices | undefined {
  const { producer, consumer } = raw;
  if (producer === undefined && consumer === undefined) return undefined;
  if (typeof producer !== 'string' || typeof consumer !== 'string') {
    const missing = typeof producer === 'string' ? '--consumer' : '--producer';
    throw usageError(missing, undefined, 'given together with the other one: they must use the same Redis');
  }
  for (const [name, option] of Object.entries(OF_THE_SERVICES)) {
    if (raw[name] !== undefined) {
      throw usageError(option, raw[name], 'left out with --producer and --consumer: the services decide it');
    }
  }
  return { producers: parseUrls('--producer', producer), consumers: parseUrls('--consumer', consumer) };
}

function parseUrls(option: string, text: string): string[] {
  return parseList(option, text).map((url) => {
    const protocol = URL.canParse(url) ? new URL(url).protocol : '';
    if (!/^https?:$/.test(protocol)) throw usageError(option, url, 'http://host:port, several with commas');
    return url;
  });
}
