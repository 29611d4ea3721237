import { InvalidOptionError } from '../../../errors.js';
import { BEFORE_ALL, compareIds, type StreamEntry, type StreamInfo } from '../streams.js';

/** A place in a stream: a reader that is here has done with everything up to it. */
export interface Place {
  /** Id of the last entry that is done. Exclusive as it is: XREAD answers what comes after it. */
  readonly id: string;
  /**
   * How many entries were ever added up to here, those included that are gone by now. `undefined` where that cannot be
   * told (before Redis 7, or until a reader that was set back has caught up).
   */
  readonly passed: number | undefined;
}

/** `from: 'new'`: after all that was ever added. `beginning`: before all that is there; what is gone is none of ours. */
export function startPlace(info: StreamInfo, from: 'new' | 'beginning'): Place {
  if (from === 'new') return { id: info.lastGeneratedId, passed: info.entriesAdded };
  return beforeAll(info);
}

export function beforeAll({ entriesAdded, length }: StreamInfo): Place {
  return { id: BEFORE_ALL, passed: entriesAdded === undefined ? undefined : entriesAdded - length };
}

/** @returns the place of a reader that was at `place` and has done with the first `count` of the entries it read there. */
export function placeAfter(place: Place, entries: readonly StreamEntry[], count: number): Place {
  const last = entries[count - 1];
  if (last === undefined) return place;
  return { id: last.id, passed: place.passed === undefined ? undefined : place.passed + count };
}

/** How a place is stored: `1764527143000-0 57`, or the id alone. */
const STORED = /^(\d{1,20}-\d{1,20})(?: (\d{1,16}))?$/;

export function storedForm({ id, passed }: Place): string {
  return passed === undefined ? id : `${id} ${passed}`;
}

/** @throws {InvalidOptionError} what was loaded was never handed out */
export function placeFrom(stored: string): Place {
  const [, id, passed] = STORED.exec(stored) ?? [];
  if (id === undefined) throw new InvalidOptionError('offset', stored, 'a position that a handler was given');
  return { id, passed: passed === undefined ? undefined : Number(passed) };
}

/**
 * How many entries were trimmed between a reader and the oldest entry that is there. Of those ever added, each was
 * passed by the reader, is still ahead of it, or is gone:
 *
 *     gone = added - passed - ahead
 *
 * @returns `undefined` where it cannot be told now; negative when the stream has had fewer entries than were read
 */
export function goneBehind(info: StreamInfo, { id, passed }: Place): number | undefined {
  const ahead = entriesAhead(info, id);
  if (ahead === undefined || passed === undefined || info.entriesAdded === undefined) return undefined;
  return info.entriesAdded - passed - ahead;
}

/**
 * How many entries come after the id. Known at two moments: it is the whole length while the oldest entry lies beyond
 * the id (which is so right after a trim that hurt), and nothing for a reader that has caught up. `undefined` in
 * between, where counting would mean reading them.
 */
export function entriesAhead(info: StreamInfo, id: string): number | undefined {
  if (compareIds(info.lastGeneratedId, id) <= 0) return 0;
  if (info.firstId === undefined || compareIds(info.firstId, id) > 0) return info.length;
  return undefined;
}
