import type { RedisArgument, RedisClient, RedisCommand, RedisReply } from '../../client/redis-client.js';
import { REPLAY_DEAD_LETTER } from '../../scripts/replay-dead-letter.js';
import type { DeadLetter, DeadLetters } from '../pattern.js';
import { assertOwnKeys, namingForeignKey } from './foreign-key.js';
import { ReceivedMessage } from './message.js';
import { check } from './options.js';
import { deadLetterKey, FIELD, fieldOf, integerOf, textOf } from './streams.js';

/**
 * The dead letters of a key: a stream beside it, one entry for each message that was given up.
 *
 *     <key>:dead   id <place>  reason <text>  attempts <number>  m <header and body>
 *
 * `m` is the message as it was sent, so that a replay repeats it to the byte and a weir message keeps its id.
 * `id` names the place it was taken from, which is the id of a message that other software wrote; being another
 * place after a replay, such a message then has another id.
 */

/** Longest reason that is kept, in UTF-16 units: an error may carry the whole message in its text. */
const LONGEST_REASON = 500;
const DEFAULT_COUNT = 100;
const LARGEST_COUNT = 10_000;
/** Commands in one write. */
const CHUNK = 1000;

/** What a pattern knows of a message when it gives it up. */
export interface GivenUp {
  /** Where it was taken from: the entry id in a stream. */
  readonly place: string;
  /** The error that ended the last attempt. */
  readonly error: Error;
  readonly attempts: number;
  /** Header and body. */
  readonly raw: Uint8Array;
}

/** Names and values for the XADD that writes a dead letter. */
export function deadLetterFields({ place, error, attempts, raw }: GivenUp): RedisArgument[] {
  const reason = error.message.slice(0, LONGEST_REASON);
  return ['id', place, 'reason', reason, 'attempts', String(attempts), FIELD, raw];
}

/** @param medium what the pattern's key holds, also while it does not exist */
export function deadLettersOf(client: RedisClient, key: string, medium: 'stream' | 'list'): DeadLetters {
  const deadKey = deadLetterKey(key);
  return {
    async list(page) {
      const after = page?.after;
      const count = page?.count ?? DEFAULT_COUNT;
      if (after !== undefined) checkId('after', after);
      const isCount = Number.isInteger(count) && count >= 1 && count <= LARGEST_COUNT;
      check('count', count, isCount, `a whole number from 1 to ${LARGEST_COUNT}`);
      const start = after === undefined ? '-' : `(${after}`;
      const reply = await namingForeignKey(client, deadKey, 'stream', () =>
        client.send(['XRANGE', deadKey, start, '+', 'COUNT', String(count)]),
      );
      return Array.isArray(reply) ? reply.map(letterOf) : [];
    },
    async replay(ids) {
      for (const id of ids) checkId('ids', id);
      await assertOwnKeys(client, [deadKey], 'stream');
      await assertOwnKeys(client, [key], medium);
      return sumOf(
        client,
        ids.map((id) => ['EVAL', REPLAY_DEAD_LETTER, '2', deadKey, key, medium, FIELD, id]),
      );
    },
    async remove(ids) {
      for (const id of ids) checkId('ids', id);
      await assertOwnKeys(client, [deadKey], 'stream');
      return sumOf(
        client,
        ids.map((id) => ['XDEL', deadKey, id]),
      );
    },
  };
}

/**
 * @throws the first error or unknown outcome. What was done before it stays done, and doing it all again does no harm.
 */
async function sumOf(client: RedisClient, commands: readonly RedisCommand[]): Promise<number> {
  let sum = 0;
  for (let start = 0; start < commands.length; start += CHUNK) {
    for (const outcome of await client.sendMany(commands.slice(start, start + CHUNK))) {
      if (outcome.state !== 'ok') throw outcome.error;
      sum += integerOf(outcome.reply);
    }
  }
  return sum;
}

function letterOf(entry: RedisReply): DeadLetter {
  const [id, fields] = Array.isArray(entry) ? entry : [];
  const letterId = textOf(id);
  const content = fieldOf(fields ?? null, FIELD);
  const raw = Buffer.isBuffer(content) ? content : Buffer.alloc(0);
  const message = new ReceivedMessage(raw, textOf(fieldOf(fields ?? null, 'id')));
  return {
    id: letterId,
    messageId: message.id,
    body: message.body,
    reason: utf8Of(fieldOf(fields ?? null, 'reason')),
    attempts: Number(utf8Of(fieldOf(fields ?? null, 'attempts'))) || 0,
    // Redis itself gave the id, and it begins with its clock.
    deadSinceMs: Number(letterId.split('-')[0]),
  };
}

function utf8Of(reply: RedisReply | undefined): string {
  return Buffer.isBuffer(reply) ? reply.toString('utf8') : '';
}

function checkId(option: string, id: unknown): void {
  check(
    option,
    id,
    typeof id === 'string' && /^\d{1,20}-\d{1,20}$/.test(id),
    'ids of dead letters: 1700000000000-0',
  );
}
