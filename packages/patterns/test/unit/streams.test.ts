import { describe, expect, it } from 'vitest';
import { compareIds, entriesOf, streamInfoOf } from '../../src/messaging/internal/streams.js';
import { TrimWatch } from '../../src/messaging/internal/trim-watch.js';

const bytes = (text: string) => Buffer.from(text);

describe('entries of a read', () => {
  it('are the id and the value of the lone field', () => {
    const reply = [[bytes('key'), [[bytes('1-1'), [bytes('m'), bytes('body')]]]]];
    expect(entriesOf(reply)).toEqual([{ id: '1-1', raw: bytes('body') }]);
  });

  it('have no content when they were trimmed while pending', () => {
    expect(entriesOf([[bytes('key'), [[bytes('1-1'), null]]]])).toEqual([{ id: '1-1', raw: undefined }]);
  });

  it('hold all fields and values of other software, in order', () => {
    const fields = ['a', '1', 'b', '2'].map(bytes);
    const [entry] = entriesOf([[bytes('key'), [[bytes('1-1'), fields]]]]);
    expect(entry?.raw?.toString()).toBe('a\x001\0b\x002');
  });

  it('are none for nil', () => {
    expect(entriesOf(null)).toEqual([]);
  });
});

it.each([
  ['1-1', '1-1', 0],
  ['1-2', '1-10', -1],
  ['10-0', '9-99', 1],
  ['0-0', '1-0', -1],
  ['18446744073709551615-1', '18446744073709551615-18446744073709551615', -1],
])('orders ids by number: %s and %s', (a, b, expected) => {
  expect(compareIds(a, b)).toBe(expected);
});

describe('the trim watch', () => {
  const info = (
    entriesAdded: number | undefined,
    length: number,
    firstId: string,
    lastGeneratedId: string,
  ) => ({
    entriesAdded,
    length,
    firstId,
    lastGeneratedId,
  });

  it('counts what was trimmed in front of the reader, once', () => {
    // A reader at 5-0 that began with nothing ahead and has read 5; 100 were added since and 80 of those trimmed.
    const watch = new TrimWatch(info(0, 0, '0-0', '0-0'), 0);
    watch.read(5);
    expect(watch.lost(info(105, 20, '86-0', '105-0'), '5-0')).toBe(80);
    expect(watch.lost(info(105, 20, '86-0', '105-0'), '5-0')).toBe(0);
  });

  it('counts it also when the reader has caught up since', () => {
    const watch = new TrimWatch(info(0, 0, '0-0', '0-0'), 0);
    watch.read(25);
    expect(watch.lost(info(105, 20, '86-0', '105-0'), '105-0')).toBe(80);
  });

  it('does not count what was trimmed behind the reader', () => {
    const watch = new TrimWatch(info(50, 10, '41-0', '50-0'), 10);
    watch.read(10);
    expect(watch.lost(info(50, 1, '50-0', '50-0'), '50-0')).toBe(0);
  });

  it('says nothing where it cannot know: in the middle of the stream, or before Redis 7', () => {
    const watch = new TrimWatch(info(0, 0, '0-0', '0-0'), 0);
    expect(watch.lost(info(10, 10, '1-0', '10-0'), '5-0')).toBe(0);
    const old = new TrimWatch(info(undefined, 0, '0-0', '0-0'), 0);
    expect(old.lost(info(undefined, 3, '7-0', '9-0'), '1-0')).toBe(0);
  });

  it('begins anew when the stream was deleted and begun anew', () => {
    const watch = new TrimWatch(info(0, 0, '0-0', '0-0'), 0);
    watch.read(50);
    expect(watch.lost(info(2, 2, '51-0', '52-0'), '50-0')).toBe(0);
    watch.read(2);
    expect(watch.lost(info(12, 4, '59-0', '62-0'), '52-0')).toBe(6);
  });

  it('reads XINFO STREAM', () => {
    const reply = [
      ...[bytes('length'), 1, bytes('last-generated-id'), bytes('3-0'), bytes('entries-added'), 3],
      ...[bytes('first-entry'), [bytes('2-0'), [bytes('m'), bytes('x')]]],
    ];
    expect(streamInfoOf(reply)).toEqual({
      length: 1,
      lastGeneratedId: '3-0',
      entriesAdded: 3,
      firstId: '2-0',
    });
  });
});
