import type { RedisClient, RedisCommand } from '../../../client/redis-client.js';
import type { HandlerContext, OffsetSource } from '../../pattern.js';
import { namingForeignKey } from '../foreign-key.js';
import type { ConsumerSettings } from '../options.js';
import { textOf } from '../streams.js';
import { type Place, placeFrom, storedForm } from './place.js';

/** Where a reader keeps how far it has come, so that another process of its name goes on from there. */
export interface OffsetKeeper {
  /** @returns the place stored last; `undefined`: this reader begins anew. */
  load(): Promise<Place | undefined>;
  /** What the handler is told whose messages end at the place. */
  contextAt(place: Place): HandlerContext;
  /** The command that stores the place, to go with the next write; `undefined` when there is nothing to write. */
  storing(place: Place): RedisCommand | undefined;
  /** That command was carried out. */
  stored(place: Place): void;
  /** Redis may have lost what was stored. */
  doubt(): void;
}

/** Where `offset: 'redis'` keeps them: a hash of consumer name to place. */
export function offsetsKey(key: string): string {
  return `${key}:offsets`;
}

/**
 * Where a reader whose handler keeps the offset began: a hash of consumer name to place. Until the first commit the
 * handler's store knows nothing of the reader, and one that dies before it must not begin anew at the end of the stream.
 */
export function startsKey(key: string): string {
  return `${key}:starts`;
}

/** As the option `offset` says. */
export function offsetKeeper(client: RedisClient, settings: ConsumerSettings): OffsetKeeper {
  const { offset } = settings;
  if (offset === 'memory') return KEPT_NOWHERE;
  return offset === 'redis'
    ? keptInRedis(client, offsetsKey(settings.key), settings)
    : keptByHandler(client, offset, settings);
}

const NO_CONTEXT: HandlerContext = {};

/** The template: nothing is stored, each start begins as `from` says. */
const KEPT_NOWHERE: OffsetKeeper = {
  load: async () => undefined,
  contextAt: () => NO_CONTEXT,
  storing: () => undefined,
  stored: () => undefined,
  doubt: () => undefined,
};

/**
 * Beside the stream, after the handler. Redis carries commands out, persists and replicates them in their order, so
 * the offset is never ahead of the entries it follows, whatever is lost at the end.
 */
function keptInRedis(
  client: RedisClient,
  hash: string,
  { consumerName }: Pick<ConsumerSettings, 'consumerName'>,
): OffsetKeeper {
  let inRedis: string | undefined;
  return {
    async load() {
      const reply = await namingForeignKey(client, hash, 'hash', () =>
        client.send(['HGET', hash, consumerName]),
      );
      if (reply === null) return undefined;
      inRedis = textOf(reply);
      return placeFrom(inRedis);
    },
    contextAt: () => NO_CONTEXT,
    storing(place) {
      const form = storedForm(place);
      return form === inRedis ? undefined : ['HSET', hash, consumerName, form];
    },
    stored(place) {
      inRedis = storedForm(place);
    },
    doubt() {
      inRedis = undefined;
    },
  };
}

/** In the handler's own transaction, together with the effects of the messages; Redis is told where it began, once. */
function keptByHandler(
  client: RedisClient,
  source: OffsetSource,
  settings: Pick<ConsumerSettings, 'key' | 'consumerName'>,
): OffsetKeeper {
  const reader = `${settings.key}:${settings.consumerName}`;
  const start = keptInRedis(client, startsKey(settings.key), settings);
  let isStartKept = false;
  return {
    async load() {
      const position = await source.load(reader);
      isStartKept = position !== undefined;
      if (position !== undefined) return placeFrom(position);
      const begun = await start.load();
      isStartKept = begun !== undefined;
      return begun;
    },
    contextAt: (place) => ({ offset: { reader, position: storedForm(place) } }),
    storing: (place) => (isStartKept ? undefined : start.storing(place)),
    stored(place) {
      isStartKept = true;
      start.stored(place);
    },
    doubt: () => undefined,
  };
}
