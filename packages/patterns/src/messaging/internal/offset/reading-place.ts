import type { CommandOutcome, RedisClient, RedisCommand } from '../../../client/redis-client.js';
import { BEFORE_ALL, compareIds, entriesIn, type StreamInfo, streamInfoFrom } from '../streams.js';
import { beforeAll, entriesAhead, goneBehind, type Place } from './place.js';

/** A place is remembered this often, in milliseconds, and so many of them: ten seconds back at any rate. */
const REMEMBER_EVERY_MS = 100;
const REMEMBERED_PLACES = 100;

/** What a look at the stream has shown. */
export type Finding =
  | { readonly state: 'intact' /** Entries trimmed unread since the last look. */; readonly trimmed: number }
  | { readonly state: 'set-back'; readonly from: Place; readonly to: Place };

/**
 * Where a reader is, and whether the stream still agrees.
 *
 * A server can come back with less than it had: its last writes were not on disk, a replica took over that had not
 * received them, or somebody deleted the stream. The place may then be ahead of the stream, and what is added before
 * it would never be read. Entries that came in before we look may even hide it, by ids beyond the place. So a look
 * asks for entries that the reader knows. One that is missing was lost unless its absence is explained: it was
 * deleted (then `max-deleted-entry-id` is as high) or trimmed (then the stream begins behind it). And Redis counts
 * what was ever added: less than what was read is a loss as well.
 *
 * After a loss reading goes on from the newest place before which nothing known is missing, or from the beginning:
 * rather repeat than lose.
 */
export class ReadingPlace {
  #at: Place;
  /** Where it was at the last look: history may be replaced *between* two looks and be read beyond. */
  #anchor: Place;
  /** Places before this one, oldest first. */
  #remembered: Place[] = [];
  #rememberedAt = Number.NEGATIVE_INFINITY;

  constructor(at: Place) {
    this.#at = at;
    this.#anchor = at;
  }

  get at(): Place {
    return this.#at;
  }

  moveTo(place: Place): void {
    const now = performance.now();
    if (now - this.#rememberedAt >= REMEMBER_EVERY_MS) {
      this.#remember(this.#at);
      this.#rememberedAt = now;
    }
    this.#at = place;
  }

  /** @throws what the client throws */
  async look(client: Pick<RedisClient, 'sendMany'>, key: string): Promise<Finding> {
    const since = this.#remembered.filter(({ id }) => compareIds(id, this.#anchor.id) > 0);
    const { info, lost } = await lookFor(client, key, [this.#anchor, ...since, this.#at]);
    const added = info.entriesAdded ?? Number.POSITIVE_INFINITY;
    if (lost.length > 0 || added < (this.#at.passed ?? 0)) return this.#setBack(client, key);
    const trimmed = Math.max(0, goneBehind(info, this.#at) ?? 0);
    this.#at = settled(info, {
      ...this.#at,
      passed: this.#at.passed === undefined ? undefined : this.#at.passed + trimmed,
    });
    if (this.#anchor.id !== this.#at.id) this.#remember(this.#anchor);
    this.#anchor = this.#at;
    return { state: 'intact', trimmed };
  }

  async #setBack(client: Pick<RedisClient, 'sendMany'>, key: string): Promise<Finding> {
    const from = this.#at;
    const places = inOrder([...this.#remembered, this.#anchor, from]);
    const { info, there, lost } = await lookFor(client, key, places);
    const [firstLost] = lost;
    const known = there
      .filter(({ id }) => firstLost === undefined || compareIds(id, firstLost.id) < 0)
      .at(-1);
    // What was passed up to there counts no more: the server's own count may have begun anew.
    const to = known === undefined ? beforeAll(info) : settled(info, { id: known.id, passed: undefined });
    this.#at = to;
    this.#anchor = to;
    this.#remembered = [];
    return { state: 'set-back', from, to };
  }

  #remember(place: Place): void {
    this.#remembered.push(place);
    if (this.#remembered.length > REMEMBERED_PLACES) this.#remembered.shift();
  }
}

interface Look {
  readonly info: StreamInfo;
  /** Places whose entry is in the stream, in the order asked for. */
  readonly there: readonly Place[];
  /** Places whose entry is missing without an explanation. */
  readonly lost: readonly Place[];
}

/** The entries are asked for before the state: what is trimmed in between is then explained by the state. */
async function lookFor(
  client: Pick<RedisClient, 'sendMany'>,
  key: string,
  places: readonly Place[],
): Promise<Look> {
  const commands: RedisCommand[] = places.map(({ id }) => ['XRANGE', key, id, id]);
  const outcomes = await client.sendMany([...commands, ['XINFO', 'STREAM', key]]);
  const info = streamInfoFrom(outcomes.at(-1));
  const found = places.map((_place, index) => isFound(outcomes[index]));
  return {
    info,
    there: places.filter((_place, index) => found[index]),
    lost: places.filter((place, index) => !found[index] && !isExplained(info, place.id)),
  };
}

function isFound(outcome: CommandOutcome | undefined): boolean {
  if (outcome?.state !== 'ok') throw outcome?.error ?? new Error('no outcome');
  return entriesIn(outcome.reply).length > 0;
}

/** Before Redis 7 the highest deleted id is not told; there only ids beyond the end are certain to be lost. */
function isExplained(info: StreamInfo, id: string): boolean {
  if (id === BEFORE_ALL) return true;
  if (compareIds(info.lastGeneratedId, id) < 0) return false;
  if (info.firstId === undefined || compareIds(info.firstId, id) > 0) return true;
  return info.maxDeletedId === undefined || compareIds(id, info.maxDeletedId) <= 0;
}

/** Fills in how many were passed as soon as it can be told. */
function settled(info: StreamInfo, place: Place): Place {
  const ahead = entriesAhead(info, place.id);
  if (place.passed !== undefined || ahead === undefined || info.entriesAdded === undefined) return place;
  return { ...place, passed: info.entriesAdded - ahead };
}

function inOrder(places: readonly Place[]): Place[] {
  return places.toSorted((one, other) => compareIds(one.id, other.id));
}
