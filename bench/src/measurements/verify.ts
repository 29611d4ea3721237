import type { TypedWorker } from '../lab.js';
import type { ReceiverApi, SenderApi } from '../processes/api.js';

/** @throws Error unless the receiver handled `expected` messages of this trial, each once, and nothing else. */
export async function verifyReceived(receiver: TypedWorker<ReceiverApi>, expected: number): Promise<void> {
  const { distinct, repeated, foreign } = await receiver.call('report', undefined);
  if (distinct === expected && repeated === 0 && foreign === 0) return;
  throw new Error(
    `the trial is void: of ${expected} messages ${distinct} were handled, ` +
      `with ${repeated} repeated deliveries and ${foreign} foreign messages`,
  );
}

/** @throws Error unless `expected` messages are in Redis. */
export async function verifyWaiting(sender: TypedWorker<SenderApi>, expected: number): Promise<void> {
  const waiting = await sender.call('waiting', undefined);
  if (waiting === expected) return;
  throw new Error(`the trial is void: ${expected} messages were sent and Redis holds ${waiting}`);
}
