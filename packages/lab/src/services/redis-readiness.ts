import type { RedisClient } from '@weir/patterns';
import type { Readiness } from './operations.js';

/** A Redis that is slower than this does not count as ready, in milliseconds. */
const DEADLINE_MS = 1_000;

/** Asks Redis for a PING. */
export async function redisReadiness(client: RedisClient): Promise<Readiness> {
  const began = performance.now();
  try {
    await client.send(['PING'], { deadlineMs: DEADLINE_MS });
    return { ready: true, checks: { redis: { status: 'ok', pingMs: performance.now() - began } } };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ready: false, checks: { redis: { status: 'unavailable', message } } };
  }
}
