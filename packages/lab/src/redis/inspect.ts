import type { RedisClient } from '@weir/patterns';
import type { Nanoseconds } from '../core/units.js';

/** What decides how fast and how safe a server is, in CONFIG's own names. */
export const CONFIG_THAT_MATTERS = [
  'appendonly',
  'appendfsync',
  'save',
  'maxmemory',
  'maxmemory-policy',
  'io-threads',
  'client-output-buffer-limit',
  'hz',
] as const;

/**
 * Reads the configuration that matters. What the server does not know (`io-threads` before 6) or does not show
 * (hosted services forbid CONFIG) is left out.
 */
export async function readConfiguration(client: RedisClient): Promise<Record<string, string>> {
  // One command each: CONFIG GET takes several names only since Redis 7.
  const outcomes = await client.sendMany(CONFIG_THAT_MATTERS.map((name) => ['CONFIG', 'GET', name]));
  const known: Record<string, string> = {};
  for (const outcome of outcomes) {
    if (outcome.state !== 'ok' || !Array.isArray(outcome.reply)) continue;
    const [name, value] = outcome.reply;
    if (name !== undefined && value !== undefined) known[String(name)] = String(value);
  }
  return known;
}

export interface RoundTrip {
  readonly median: Nanoseconds;
  readonly p99: Nanoseconds;
}

/**
 * Round trip of PING, one at a time: the least any command can take from here, network and client included. Tells
 * a Redis across the room from one across the ocean.
 * @param count 1000 leaves ten samples beyond the p99: an indication, not a reported percentile
 */
export async function pingRoundTrip(client: RedisClient, count = 1_000): Promise<RoundTrip> {
  const samples = new Float64Array(count);
  for (let index = 0; index < count; index++) {
    const sent = process.hrtime.bigint();
    await client.send(['PING']);
    samples[index] = Number(process.hrtime.bigint() - sent);
  }
  samples.sort();
  return { median: nearestRank(samples, 0.5), p99: nearestRank(samples, 0.99) };
}

/** The smallest sample that at least `quantile` of all do not exceed. */
function nearestRank(sorted: Float64Array, quantile: number): Nanoseconds {
  return sorted[Math.max(0, Math.ceil(quantile * sorted.length) - 1)] ?? 0;
}
