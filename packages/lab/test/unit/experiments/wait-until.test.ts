import { expect, it } from 'vitest';
import { endsWithin, waitUntil } from '../../../src/experiments/faults/wait-until.js';

const never = new Promise<never>(() => undefined);
const alive = () => new AbortController().signal;

it('waits for a condition, and says when the time was up first', async () => {
  let looks = 0;
  expect(await waitUntil(() => ++looks === 3, 10_000, alive())).toBe(true);
  expect(await waitUntil(() => false, 1, alive())).toBe(false);
});

it('passes on what the work comes to', async () => {
  expect(await endsWithin('the work', Promise.resolve(7), 10_000, alive())).toBe(7);
  await expect(endsWithin('the work', Promise.reject(new Error('its own')), 10_000, alive())).rejects.toThrow(
    'its own',
  );
});

it('gives up on work that never ends', async () => {
  await expect(endsWithin('the storm', never, 1, alive())).rejects.toThrow(
    'the storm did not end within 1 ms',
  );
});

it('ends both at once when the run is interrupted', async () => {
  const interrupted = AbortSignal.abort(new Error('Ctrl-C'));
  await expect(endsWithin('the storm', never, 10_000, interrupted)).rejects.toThrow('Ctrl-C');
  await expect(waitUntil(() => false, 10_000, interrupted)).rejects.toThrow('Ctrl-C');
});
