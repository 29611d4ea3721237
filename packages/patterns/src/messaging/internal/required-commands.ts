import type { RedisClient } from '../../client/redis-client.js';
import { PatternError } from '../../errors.js';

/** What the server behind a client is known to have; it is asked once. */
const known = new WeakMap<RedisClient, Set<string>>();

/**
 * Asks the server for commands that not every Redis has. The server is asked for the command, not for its version: forks
 * count differently, and a command can be renamed away.
 *
 * Where it cannot be asked (not connected, COMMAND not allowed) nothing is thrown: the command itself will tell.
 *
 * @param deadlineMs how long the answer may take, in milliseconds
 * @throws {PatternError} UNSUPPORTED_SERVER, naming what is missing
 */
export async function assertServerKnows(
  client: RedisClient,
  commands: readonly string[],
  deadlineMs: number,
): Promise<void> {
  const knownHere = known.get(client) ?? new Set();
  known.set(client, knownHere);
  const unsure = commands.filter((command) => !knownHere.has(command));
  if (unsure.length === 0) return;
  const [outcome] = await client.sendMany([['COMMAND', 'INFO', ...unsure]], { deadlineMs });
  if (outcome?.state !== 'ok' || !Array.isArray(outcome.reply)) return;
  const missing: string[] = [];
  for (const [index, command] of unsure.entries()) {
    if (Array.isArray(outcome.reply[index])) knownHere.add(command);
    else missing.push(command);
  }
  if (missing.length === 0) return;
  throw new PatternError(
    'UNSUPPORTED_SERVER',
    `the server does not know ${missing.join(' and ')}, which this pattern needs: use a newer server or another pattern`,
  );
}
