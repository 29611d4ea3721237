import { describe, expect, it } from 'vitest';
import {
  goneBehind,
  placeAfter,
  placeFrom,
  startPlace,
  storedForm,
} from '../../src/messaging/internal/offset/place.js';
import type { StreamInfo } from '../../src/messaging/internal/streams.js';

const info = (
  entriesAdded: number | undefined,
  length: number,
  firstId: string | undefined,
  lastGeneratedId: string,
): StreamInfo => ({ entriesAdded, length, firstId, lastGeneratedId, maxDeletedId: '0-0' });

describe('entries gone in front of a reader', () => {
  it('are those added that were neither passed nor are ahead', () => {
    // 105 were added, the oldest that is left is number 86: of a reader at number 5 numbers 6 to 85 are gone.
    expect(goneBehind(info(105, 20, '86-0', '105-0'), { id: '5-0', passed: 5 })).toBe(80);
  });

  it('show also when the reader has caught up since', () => {
    expect(goneBehind(info(105, 20, '86-0', '105-0'), { id: '105-0', passed: 25 })).toBe(80);
  });

  it('are none when only what lies behind the reader was trimmed, to the last entry', () => {
    expect(goneBehind(info(50, 1, '50-0', '50-0'), { id: '50-0', passed: 50 })).toBe(0);
    expect(goneBehind(info(50, 0, undefined, '50-0'), { id: '50-0', passed: 50 })).toBe(0);
    expect(goneBehind(info(50, 0, undefined, '50-0'), { id: '40-0', passed: 40 })).toBe(10);
  });

  it('are not told in the middle of the stream, without a count, and before Redis 7', () => {
    expect(goneBehind(info(10, 10, '1-0', '10-0'), { id: '5-0', passed: 5 })).toBeUndefined();
    expect(goneBehind(info(9, 3, '7-0', '9-0'), { id: '1-0', passed: undefined })).toBeUndefined();
    expect(goneBehind(info(undefined, 3, '7-0', '9-0'), { id: '1-0', passed: 1 })).toBeUndefined();
  });
});

describe('a place', () => {
  it('begins behind everything or before what is there, whatever was trimmed before', () => {
    const trimmed = info(50, 10, '41-0', '50-0');
    expect(startPlace(trimmed, 'new')).toEqual({ id: '50-0', passed: 50 });
    expect(startPlace(trimmed, 'beginning')).toEqual({ id: '0-0', passed: 40 });
    expect(goneBehind(trimmed, startPlace(trimmed, 'beginning'))).toBe(0);
  });

  it('moves entry by entry', () => {
    const entries = ['6-0', '7-0', '9-0'].map((id) => ({ id, raw: undefined }));
    expect(placeAfter({ id: '5-0', passed: 5 }, entries, 2)).toEqual({ id: '7-0', passed: 7 });
    expect(placeAfter({ id: '5-0', passed: undefined }, entries, 3)).toEqual({
      id: '9-0',
      passed: undefined,
    });
    expect(placeAfter({ id: '5-0', passed: 5 }, [], 0)).toEqual({ id: '5-0', passed: 5 });
  });

  it.each([
    { id: '1764527143000-0', passed: 57 },
    { id: '18446744073709551615-18446744073709551615', passed: undefined },
  ])('comes back from its stored form: %o', (place) => {
    expect(placeFrom(storedForm(place))).toEqual(place);
  });

  it.each(['', '5', '5-0 ', '5-0 x', ' 5-0', '5-0 1 2', '$'])('is not made from %j', (stored) => {
    expect(() => placeFrom(stored)).toThrow(/^offset is .*; it must be a position that a handler was given/);
  });
});
