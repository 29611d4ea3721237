import { expect, it } from 'vitest';
import { InFlightWindow } from '../../src/messaging/internal/in-flight-window.js';

it('lets in what fits at once and makes the rest wait in order', async () => {
  const window = new InFlightWindow(10);
  const entered: string[] = [];
  expect(window.enter(6)).toBeUndefined();
  const big = window.enter(6)?.then(() => entered.push('big'));
  const small = window.enter(1)?.then(() => entered.push('small'));
  // The small one would fit, but it came later.
  expect(small).toBeDefined();
  expect(window.used).toBe(6);
  window.leave(6);
  await Promise.all([big, small]);
  expect(entered).toEqual(['big', 'small']);
  expect(window.used).toBe(7);
});

it('lets a count above its size in alone', async () => {
  const window = new InFlightWindow(10);
  expect(window.enter(25)).toBeUndefined();
  const next = window.enter(1);
  expect(next).toBeDefined();
  window.leave(25);
  await next;
  expect(window.used).toBe(1);
});
