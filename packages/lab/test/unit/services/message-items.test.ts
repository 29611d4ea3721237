import { expect, it } from 'vitest';
import { messagesOf } from '../../../src/services/message-items.js';
import {
  identifiedPayloadOf,
  identityOf,
  intendedTime,
  SMALLEST_IDENTIFIED_BYTES,
} from '../../../src/workers/payload.js';

const items = (text: string, isNdjson = false): string[] => messagesOf(Buffer.from(text), isNdjson);

it('takes strings as their text and other values as their JSON', () => {
  expect(items('["a", {"b": [1]}, 2, null, ""]')).toEqual(['a', '{"b":[1]}', '2', 'null', '']);
  expect(items('"a"\r\n\n {"b": [1]} \n""\n', true)).toEqual(['a', '{"b": [1]}', '']);
  expect(items('{"a":1}\n{"a":2}')).toEqual(['{"a":1}', '{"a":2}']);
  // A line may itself be an array.
  expect(items('[1]\n[2]', true)).toEqual(['[1]', '[2]']);
});

it.each([
  ['[1, "a,]", {"x": [1, 2]}, oops, 4]', 3],
  ['["\\"", x]', 1],
  ['[1,,2]', 1],
  ['[1, 2', undefined],
  ['["a" "b"]', 0],
])('names the item of %s', (text, item) => {
  expect(() => items(text)).toThrow(
    expect.objectContaining({ statusCode: 400, ...(item === undefined ? {} : { details: { item } }) }),
  );
});

it('carries who sent a message inside its body', () => {
  const body = Buffer.from(identifiedPayloadOf(100, 'a1b2c3d4p0')(123_456_789, 987));
  expect(body.length).toBe(100);
  expect(identityOf(body)).toEqual({ producer: 'a1b2c3d4p0', sequence: 987 });
  expect(intendedTime(body)).toBe(123_456_789);
  expect(identifiedPayloadOf(SMALLEST_IDENTIFIED_BYTES, 'p')(0, 1)).toHaveLength(SMALLEST_IDENTIFIED_BYTES);
  expect(identityOf(Buffer.from('anything else, long enough to hold an identity'))).toEqual({
    producer: '',
    sequence: -1,
  });
});
