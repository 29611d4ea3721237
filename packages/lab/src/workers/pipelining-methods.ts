import type { CommandOutcome, RedisClient, RedisCommand } from '@weir/patterns';
import { pipeline } from '@weir/patterns/pipelining/pipeline';
import type { Command, Method } from './pipelining-api.js';
import { type Operations, SCRIPTS } from './pipelining-operations.js';

/** Carries out the operations `from` up to `to` (exclusive) in one round trip, or as the method does it. */
export type Round = (from: number, to: number) => Promise<readonly CommandOutcome[]>;

/** A deadline far beyond any round: a cut-off would be measured as an error, not as a slow client. */
const DEADLINE = { deadlineMs: 60_000 };
const NO_CHUNKS = Number.MAX_SAFE_INTEGER;

/** Makes the round of a method. May ask Redis to prepare something (a script). */
export async function roundOf(
  method: Method,
  command: Command,
  redis: RedisClient,
  operations: Operations,
): Promise<Round> {
  const commandsOf = (from: number, to: number): RedisCommand[] => {
    const commands: RedisCommand[] = [];
    for (let index = from; index < to; index++) commands.push(operations.command(index));
    return commands;
  };
  switch (method) {
    case 'sequential':
      return async (from, to) => {
        const outcomes: CommandOutcome[] = [];
        for (let index = from; index < to; index++) {
          outcomes.push(await outcomeOf(redis, operations.command(index)));
        }
        return outcomes;
      };
    case 'promise-all':
    case 'auto-pipelining':
      return (from, to) => Promise.all(commandsOf(from, to).map((each) => outcomeOf(redis, each)));
    case 'pipeline': {
      // One chunk per round: the depth is what is compared. Chunking itself is for callers with more than that.
      const pipe = pipeline(redis, {
        maxCommandsPerChunk: NO_CHUNKS,
        maxBytesPerChunk: NO_CHUNKS,
        maxChunksInFlight: 1,
        ...DEADLINE,
      });
      return (from, to) => pipe.send(commandsOf(from, to));
    }
    case 'multi':
      return async (from, to) => {
        const outcomes = await redis.sendMany([['MULTI'], ...commandsOf(from, to), ['EXEC']], DEADLINE);
        return spread(outcomes.at(-1), to - from);
      };
    case 'lua': {
      const sha = String(await redis.send(['SCRIPT', 'LOAD', SCRIPTS[command]]));
      return async (from, to) => {
        const { keys, arguments: values } = operations.keysAndArguments(from, to);
        const call: RedisCommand = ['EVALSHA', sha, String(keys.length), ...keys, ...values];
        return spread((await redis.sendMany([call], DEADLINE))[0], to - from);
      };
    }
    case 'mset':
      return async (from, to) => {
        const call = operations.many(from, to);
        if (call === undefined) throw new Error(`there is no command for many ${command}`);
        return spread((await redis.sendMany([call], DEADLINE))[0], to - from);
      };
  }
}

async function outcomeOf(redis: RedisClient, command: RedisCommand): Promise<CommandOutcome> {
  const [outcome] = await redis.sendMany([command], DEADLINE);
  return outcome ?? { state: 'unknown', error: new Error('no outcome') };
}

/** One answer for many operations: a list of theirs, or a status that holds for all of them. */
function spread(outcome: CommandOutcome | undefined, count: number): CommandOutcome[] {
  const each = (index: number): CommandOutcome => {
    if (outcome === undefined) return { state: 'unknown', error: new Error('no outcome') };
    if (outcome.state !== 'ok' || !Array.isArray(outcome.reply)) return outcome;
    const reply = outcome.reply[index];
    return reply === undefined
      ? { state: 'unknown', error: new Error('an answer is missing') }
      : { state: 'ok', reply };
  };
  return Array.from({ length: count }, (_, index) => each(index));
}
