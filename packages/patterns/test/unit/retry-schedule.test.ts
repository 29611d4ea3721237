import { expect, it } from 'vitest';
import { type Held, RetrySchedule } from '../../src/messaging/internal/retry-schedule.js';

const held = (id: string, dueAt: number): Held => ({
  id,
  raw: Buffer.alloc(0),
  attempts: 1,
  error: new Error('x'),
  next: 'handle',
  dueAt,
});

it('hands out what is due, the longest waiting first, and keeps it until told', () => {
  const schedule = new RetrySchedule();
  schedule.put(held('late', 300));
  schedule.put(held('second', 200));
  schedule.put(held('first', 100));
  expect(schedule.nextDueIn(50)).toBe(50);
  expect(schedule.due(250).map(({ id }) => id)).toEqual(['first', 'second']);
  expect(schedule.nextDueIn(250)).toBe(0);
  schedule.put(held('first', 900));
  schedule.remove('second');
  expect(schedule.due(250)).toEqual([]);
  expect(schedule.has('first')).toBe(true);
  expect(schedule.size).toBe(2);
});

it('waits for nothing when it is empty', () => {
  expect(new RetrySchedule().nextDueIn(0)).toBeUndefined();
});
