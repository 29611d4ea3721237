import { describe, expect, it } from 'vitest';
import { compareIds, entriesOf, nextId, streamInfoOf } from '../../src/messaging/internal/streams.js';

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

it('reads XINFO STREAM', () => {
  const reply = [
    ...[bytes('length'), 1, bytes('last-generated-id'), bytes('3-0'), bytes('entries-added'), 3],
    ...[bytes('max-deleted-entry-id'), bytes('1-0')],
    ...[bytes('first-entry'), [bytes('2-0'), [bytes('m'), bytes('x')]]],
  ];
  expect(streamInfoOf(reply)).toEqual({
    length: 1,
    lastGeneratedId: '3-0',
    entriesAdded: 3,
    firstId: '2-0',
    maxDeletedId: '1-0',
  });
});

it.each([
  ['0-0', '0-1'],
  ['7-9007199254740993', '7-9007199254740994'],
  ['7-18446744073709551615', '8-0'],
])('finds the id after %s', (id, next) => {
  expect(nextId(id)).toBe(next);
});
