import type { RedisCommand } from '../../../client/redis-client.js';
import { DEAD_LETTER_IN_PLACE } from '../../../scripts/dead-letter-in-place.js';
import type { HandlerContext } from '../../pattern.js';
import { Backoff } from '../backoff.js';
import { deadLetterFields } from '../dead-letters.js';
import { ReceivedMessage } from '../message.js';
import type { Reader } from '../reader.js';
import type { Run } from '../run.js';
import { deadLetterKey, type StreamEntry } from '../streams.js';

const EMPTY = Buffer.alloc(0);

/** A message whose first attempt failed. */
export interface FailedEntry {
  readonly entry: StreamEntry;
  readonly error: Error;
  /** By `performance.now()`. The delays count from here, so the many of a failed batch share the first one. */
  readonly failedAt: number;
  /** What the handler is told when it gets this message alone. */
  readonly context: HandlerContext;
}

/**
 * Hands the message over again after each retry delay while those behind it wait, which keeps the order; in the end
 * moves it to the dead letters. Returns when it is done with, one way or the other.
 * @throws {Abandoned}
 */
export async function retryInPlace(run: Run, reader: Reader, failed: FailedEntry): Promise<void> {
  const { entry, context } = failed;
  let { error, failedAt } = failed;
  let attempt = 1;
  for (const delayMs of run.settings.retryDelaysMs) {
    await run.sleep(failedAt + delayMs - performance.now());
    attempt++;
    run.counters.retries++;
    const message = new ReceivedMessage(entry.raw ?? EMPTY, entry.id, attempt);
    const failure = (await run.handOver([message], context)).get(0);
    if (failure === undefined) return;
    error = failure;
    failedAt = performance.now();
  }
  await moveToDeadLetters(run, reader, entry, error, attempt);
  run.counters.deadLettered++;
  run.report(error);
}

/** Repeated until it is there, because the offset moves past the message next. */
async function moveToDeadLetters(
  run: Run,
  reader: Reader,
  entry: StreamEntry,
  error: Error,
  attempts: number,
): Promise<void> {
  const { key, consumerName } = run.settings;
  const command: RedisCommand = [
    ...['EVAL', DEAD_LETTER_IN_PLACE, '1', deadLetterKey(key), entry.id, consumerName],
    ...deadLetterFields({ place: entry.id, error, attempts, raw: entry.raw ?? EMPTY }),
  ];
  const backoff = new Backoff();
  for (;;) {
    const [outcome] = await reader.exchange([command]);
    if (outcome?.state === 'ok') return;
    run.report(outcome?.error);
    await run.pause(backoff.next());
  }
}
