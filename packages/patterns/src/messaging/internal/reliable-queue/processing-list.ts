import type { CommandOutcome, RedisCommand, RedisReply } from '../../../client/redis-client.js';
import { DEAD_LETTER_FROM_LIST } from '../../../scripts/reliable-queue/dead-letter-from-list.js';
import { FINISH } from '../../../scripts/reliable-queue/finish.js';
import { GIVE_BACK } from '../../../scripts/reliable-queue/give-back.js';
import { TAKE } from '../../../scripts/reliable-queue/take.js';
import { deadLetterFields } from '../dead-letters.js';
import type { ConsumerSettings } from '../options.js';
import type { Held } from '../retry-schedule.js';
import { deadLetterKey } from '../streams.js';
import { attemptsKey, digestOf, leasesKey, memberOf, processingKey } from './keys.js';

/** Records of messages that nobody comes back to go away by themselves. */
export const RECORDS_KEPT_SECONDS = 7 * 24 * 3600;

/** A message that lies in a processing list, as its consumer knows it. */
export interface Delivery {
  readonly raw: Buffer;
  /** Names the delivery; the id of a message that has none of its own. */
  readonly place: string;
}

/** What a TAKE brought. */
export interface Taken {
  /** Oldest first. */
  readonly raws: readonly Buffer[];
  /** Whether any message of the queue has attempts on record. Without, nobody needs to look for them. */
  readonly recordsExist: boolean;
}

/** The commands on the processing list of one consumer. It sends nothing itself. */
export class ProcessingList {
  readonly key: string;
  /** The consumer in the leases. */
  readonly member: string;
  readonly #queue: string;
  readonly #leaseMs: string;

  constructor({ key, group, consumerName, leaseMs }: ConsumerSettings) {
    this.member = memberOf(group, consumerName);
    this.key = processingKey(key, this.member);
    this.#queue = key;
    this.#leaseMs = String(Math.ceil(leaseMs));
  }

  /** Waits for a message and moves it. To be followed by {@link take} in the same write. */
  wait(blockMs: number): RedisCommand {
    return ['BLMOVE', this.#queue, this.key, 'RIGHT', 'LEFT', String(blockMs / 1000)];
  }

  /** @param most how many to move, 0 to 1000 */
  take(most: number): RedisCommand {
    const keys = [this.#queue, this.key, attemptsKey(this.#queue), leasesKey(this.#queue)];
    return ['EVAL', TAKE, '4', ...keys, String(most), this.member, this.#leaseMs];
  }

  /** @param digests of those of the messages that have a record */
  finish(raws: readonly Buffer[], digests: readonly string[]): RedisCommand {
    const keys = [this.key, attemptsKey(this.#queue)];
    return ['EVAL', FINISH, '2', ...keys, String(raws.length), ...raws, ...digests];
  }

  /**
   * Returns everything but `kept` to the head of the queue.
   * @param begun whether what is returned counts as begun once: nobody knows, so it is assumed
   */
  giveBack(kept: readonly Buffer[], begun: boolean): RedisCommand {
    return giveBackCommand(this.#queue, this.member, { when: 'now', kept, begun });
  }

  deadLetter(held: Held): RedisCommand {
    const keys = [this.key, deadLetterKey(this.#queue), attemptsKey(this.#queue)];
    const fields = deadLetterFields({ ...held, place: held.id });
    return ['EVAL', DEAD_LETTER_FROM_LIST, '3', ...keys, digestOf(held.raw), ...fields];
  }
}

/** Takes the work of a consumer away whose lease has run out. Does nothing when it has been renewed meanwhile. */
export function takeAwayCommand(queue: string, member: string): RedisCommand {
  return giveBackCommand(queue, member, { when: 'expired', kept: [], begun: true });
}

interface GiveBack {
  readonly when: 'expired' | 'now';
  readonly kept: readonly Buffer[];
  readonly begun: boolean;
}

function giveBackCommand(queue: string, member: string, { when, kept, begun }: GiveBack): RedisCommand {
  const keys = [processingKey(queue, member), queue, attemptsKey(queue), leasesKey(queue)];
  const seconds = begun ? RECORDS_KEPT_SECONDS : 0;
  return ['EVAL', GIVE_BACK, '4', ...keys, member, when, String(seconds), ...kept.map(digestOf)];
}

/** @throws what became of a command that was not carried out, or may not have been. */
export function replyOf(outcome: CommandOutcome | undefined): RedisReply {
  if (outcome === undefined) throw new Error('no outcome');
  if (outcome.state !== 'ok') throw outcome.error;
  return outcome.reply;
}

export function takenOf(reply: RedisReply): Taken {
  const [exists, ...raws] = Array.isArray(reply) ? reply : [];
  return { raws: raws.filter((raw) => Buffer.isBuffer(raw)), recordsExist: exists === 1 };
}
