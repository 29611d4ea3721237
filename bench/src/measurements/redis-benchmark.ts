import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { locate, REDIS_BENCHMARK } from '../prerequisites.js';

const run = promisify(execFile);
const DEADLINE_MS = 60_000;

export interface RedisBenchmarkLoad {
  readonly commands: number;
  /** Commands in one pipeline. */
  readonly depth: number;
}

/**
 * Runs SET through Redis' own benchmark as it comes: 50 connections, values of 3 bytes, one key,
 * https://redis.io/docs/latest/operate/oss_and_stack/management/optimization/benchmarks/
 *
 * @returns commands per second, as it says itself: from its first command to its last reply
 * @throws Error when it cannot be run, does not end, or prints no rate
 */
export async function runRedisBenchmark(
  url: string,
  { commands, depth }: RedisBenchmarkLoad,
): Promise<number> {
  const { hostname, port } = new URL(url);
  const { stdout } = await run(
    locate(REDIS_BENCHMARK) ?? REDIS_BENCHMARK.program,
    [...['-h', hostname, '-p', port, '--csv'], ...['-P', String(depth), '-t', 'set', '-n', String(commands)]],
    { timeout: DEADLINE_MS },
  );
  // One line a test, `"SET","1204819.25",...`; since 6.2 with a line of headings before it.
  const [, rate] = /^"SET","([\d.]+)"/m.exec(stdout) ?? [];
  if (rate === undefined) throw new Error(`redis-benchmark printed no rate: ${stdout}`);
  return Number(rate);
}
