import type { RedisArgument, RedisCommand, RedisReply } from '@weir/patterns';
import type { Command } from './pipelining-api.js';

/**
 * The operations of a pipelining trial: the same keys and values for every variant, made before the clock starts so
 * that only sending them is measured.
 */
export interface Operations {
  readonly count: number;
  /** The plain command of an operation. */
  command(index: number): RedisCommand;
  /** One command for several operations (MSET, MGET); undefined where Redis has none. */
  many(from: number, to: number): RedisCommand | undefined;
  /** The same as a script: all keys, then all arguments. See {@link SCRIPTS}. */
  keysAndArguments(
    from: number,
    to: number,
  ): { keys: readonly string[]; arguments: readonly RedisArgument[] };
  /** Is this what the command must answer? */
  isRight(index: number, reply: RedisReply): boolean;
}

export interface OperationsSettings {
  readonly command: Command;
  readonly operations: number;
  readonly valueBytes: number;
  readonly keyPrefix: string;
}

/** The key of an operation; a stream takes all entries of an XADD trial. */
export function keyOf(
  { command, keyPrefix }: Pick<OperationsSettings, 'command' | 'keyPrefix'>,
  index: number,
): string {
  return command === 'xadd' ? `${keyPrefix}weir:pipelining:stream` : `${keyPrefix}weir:pipelining:${index}`;
}

/** A value no other operation has: its number, then filler. Fewer bytes than digits keep the last digits. */
export function bodyOf(index: number, bytes: number): string {
  const digits = String(index).padStart(Math.min(12, bytes), '0').slice(-bytes);
  return digits + 'x'.repeat(bytes - digits.length);
}

/** Loops over its keys with the command of the trial and returns every answer. ARGV holds one value for each key. */
export const SCRIPTS: Readonly<Record<Command, string>> = {
  set: script(`redis.call('SET', KEYS[i], ARGV[i])`),
  get: script(`redis.call('GET', KEYS[i])`),
  incr: script(`redis.call('INCR', KEYS[i])`),
  xadd: script(`redis.call('XADD', KEYS[1], '*', 'value', ARGV[i])`),
};

function script(call: string): string {
  return `
-- Many operations in one round trip, to compare with pipelines.
-- KEYS    one per operation; for XADD the stream alone
-- ARGV    one value per operation; empty where the command takes none
-- Returns the answer of each operation, in order.
local answers = {}
for i = 1, #ARGV do
  answers[i] = ${call}
end
return answers
`;
}

export function makeOperations(settings: OperationsSettings): Operations {
  const { command, operations: count, valueBytes } = settings;
  const indices = Array.from({ length: count }, (_, index) => index);
  const keys = indices.map((index) => keyOf(settings, index));
  const values = indices.map((index) => bodyOf(index, valueBytes));
  const key = (index: number): string => keys[index] ?? '';
  const value = (index: number): string => values[index] ?? '';
  const commands = indices.map((index) => commandOf(command, key(index), value(index)));
  return {
    count,
    command: (index) => commands[index] ?? [],
    many(from, to) {
      if (command === 'get') return ['MGET', ...keys.slice(from, to)];
      if (command !== 'set') return undefined;
      return ['MSET', ...indices.slice(from, to).flatMap((index) => [key(index), value(index)])];
    },
    keysAndArguments: (from, to) => ({
      keys: command === 'xadd' ? [key(0)] : keys.slice(from, to),
      arguments:
        command === 'set' || command === 'xadd'
          ? values.slice(from, to)
          : indices.slice(from, to).map(() => ''),
    }),
    isRight: (index, reply) => isRight(command, value(index), reply),
  };
}

function commandOf(command: Command, key: string, value: string): RedisCommand {
  switch (command) {
    case 'set':
      return ['SET', key, value];
    case 'get':
      return ['GET', key];
    case 'incr':
      return ['INCR', key];
    case 'xadd':
      return ['XADD', key, '*', 'value', value];
  }
}

/** A script's or transaction's status arrives as text or as bytes, by library. */
function isRight(command: Command, value: string, reply: RedisReply): boolean {
  switch (command) {
    case 'set':
      return String(reply) === 'OK';
    case 'get':
      return Buffer.isBuffer(reply) && reply.length === value.length && reply.toString('latin1') === value;
    case 'incr':
      return typeof reply === 'number' && reply > 0;
    case 'xadd':
      return Buffer.isBuffer(reply) && reply.includes('-');
  }
}
