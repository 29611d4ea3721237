import type { CommandOutcome, RedisCommand, RedisReply } from '../../../client/redis-client.js';
import { RedisReplyError } from '../../../errors.js';
import type { BlockingReader } from '../blocking-reader.js';
import type { ConsumerSettings } from '../options.js';
import { BEFORE_ALL, entriesIn, integerOf, nextId, type StreamEntry, textOf } from '../streams.js';

/** A look at what others left is due so often: while there is new work, and while there is none. */
const LOOKS_PER_LEASE_BUSY = 4;
const LOOKS_PER_LEASE_IDLE = 20;

/** What a look found. */
export interface TakenOver {
  readonly entries: readonly StreamEntry[];
  /** Pending entries whose content is gone; Redis has taken them off the pending list. */
  readonly trimmed: number;
  /** Some came without id and content (Redis before 7): they are ours now, and found by reading our pending entries. */
  readonly hasNameless: boolean;
}

const NOTHING: TakenOver = { entries: [], trimmed: 0, hasNameless: false };

/**
 * Takes over what consumers of the group left pending for longer than the lease: dead ones, or ones that have been
 * stopped for so long. A look goes through the pending entries of the group page by page, following the cursor to its
 * end; each page gives at most a batch, which is handled before the next is asked for.
 *
 * XAUTOCLAIM came with Redis 6.2. A server that does not know it is asked with XPENDING and XCLAIM.
 */
export class Takeover {
  readonly #reader: () => BlockingReader;
  readonly #settings: ConsumerSettings;
  /** The lease in whole milliseconds, as Redis takes it. */
  readonly #leaseMs: string;
  #cursor = BEFORE_ALL;
  /** When the last look came to its end; at the start one is due at once. */
  #endedAt = Number.NEGATIVE_INFINITY;
  #knowsAutoclaim = true;

  constructor(reader: () => BlockingReader, settings: ConsumerSettings) {
    this.#reader = reader;
    this.#settings = settings;
    this.#leaseMs = String(Math.ceil(settings.leaseMs));
  }

  /** Milliseconds until the next page is due. @param isIdle whether the last read found nothing new */
  dueIn(now: number, isIdle: boolean): number {
    if (this.#cursor !== BEFORE_ALL) return 0;
    const looks = isIdle ? LOOKS_PER_LEASE_IDLE : LOOKS_PER_LEASE_BUSY;
    return Math.max(0, this.#endedAt + this.#settings.leaseMs / looks - now);
  }

  /** The next page. @throws for error replies and unknown outcomes: the look is then over, the next comes in time */
  async next(): Promise<TakenOver> {
    // Ended unless the answer says otherwise, so that an error does not make the next page due at once.
    const cursor = this.#cursor;
    this.#endAt(BEFORE_ALL);
    if (!this.#knowsAutoclaim) return this.#claim(cursor);
    const { key, group, consumerName, batch } = this.#settings;
    const [outcome] = await this.#reader().exchange([
      ['XAUTOCLAIM', key, group, consumerName, this.#leaseMs, cursor, 'COUNT', String(batch)],
    ]);
    if (outcome?.state === 'error' && isUnknownCommand(outcome.error)) {
      this.#knowsAutoclaim = false;
      return this.#claim(cursor);
    }
    const reply = accepted(outcome);
    const [next, entries, deleted] = Array.isArray(reply) ? reply : [];
    this.#endAt(textOf(next));
    return { ...claimed(entries), trimmed: Array.isArray(deleted) ? deleted.length : 0 };
  }

  /** The same in two steps. What another consumer takes over in between is not given to us: XCLAIM asks for the idle time. */
  async #claim(cursor: string): Promise<TakenOver> {
    const { key, group, consumerName, batch } = this.#settings;
    const page = accepted(await this.#exchange(['XPENDING', key, group, cursor, '+', String(batch)]));
    const pending = Array.isArray(page) ? page.filter((entry) => Array.isArray(entry)) : [];
    const last = pending.at(-1)?.[0];
    this.#endAt(last === undefined || pending.length < batch ? BEFORE_ALL : nextId(textOf(last)));
    const idle = pending
      .filter(([, , idleMs]) => integerOf(idleMs) >= Number(this.#leaseMs))
      .map(([id]) => textOf(id));
    if (idle.length === 0) return NOTHING;
    const claim = ['XCLAIM', key, group, consumerName, this.#leaseMs, ...idle];
    return { ...claimed(accepted(await this.#exchange(claim))), trimmed: 0 };
  }

  async #exchange(command: RedisCommand): Promise<CommandOutcome | undefined> {
    const [outcome] = await this.#reader().exchange([command]);
    return outcome;
  }

  #endAt(cursor: string): void {
    this.#cursor = cursor;
    if (cursor === BEFORE_ALL) this.#endedAt = performance.now();
  }
}

function claimed(reply: RedisReply | undefined): Pick<TakenOver, 'entries' | 'hasNameless'> {
  const entries = entriesIn(reply ?? null);
  return { entries, hasNameless: Array.isArray(reply) && reply.length > entries.length };
}

function isUnknownCommand(error: Error): boolean {
  return error instanceof RedisReplyError && /unknown command/i.test(error.message);
}

function accepted(outcome: CommandOutcome | undefined): RedisReply {
  if (outcome?.state !== 'ok') throw outcome?.error ?? new Error('no outcome');
  return outcome.reply;
}
