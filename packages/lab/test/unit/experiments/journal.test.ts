import { expect, it } from 'vitest';
import { Journal } from '../../../src/experiments/faults/journal.js';
import type { HandledMessage } from '../../../src/workers/fault-api.js';

function handled(sequence: number, changes: Partial<HandledMessage> = {}): HandledMessage {
  return {
    producer: 'p',
    sequence,
    attempt: 1,
    sentNs: sequence * 10,
    handledNs: sequence * 10 + 5,
    bytes: 100,
    ...changes,
  };
}

it('counts a message once however often it is handled, over all processes of a name', () => {
  const journal = new Journal();
  journal.add('consumer-1', [handled(0), handled(1)]);
  journal.add('consumer-1', [handled(1), handled(2)]);
  journal.add('consumer-2', [handled(2), handled(0, { producer: 'other' })]);
  expect(journal.handledOf('p')).toBe(3);
  expect(journal.distinct).toBe(4);
  const [first, second] = journal.deliveries('p', ['consumer-1', 'consumer-2']);
  expect([...(first?.counts[0] ?? [])]).toEqual([1, 2, 1]);
  expect([...(second?.counts[0] ?? [])]).toEqual([0, 0, 1]);
});

it('calls a late first delivery reordered, and a repeat not', () => {
  const journal = new Journal();
  journal.add(
    'c',
    [0, 1, 2, 1, 2, 5, 3, 4].map((sequence) => handled(sequence)),
  );
  expect(journal.reordered('p')).toBe(2);
});

it('knows when the first message sent after a moment was handled, and which bodies were cut', () => {
  const journal = new Journal();
  journal.add('c', [handled(1), handled(3, { handledNs: 99 }), handled(2, { handledNs: 77, bytes: 7 })]);
  expect(journal.firstHandledSentAfter(20)).toBe(77);
  expect(journal.firstHandledSentAfter(31)).toBeUndefined();
  expect(journal.damaged(100)).toBe(1);
});
