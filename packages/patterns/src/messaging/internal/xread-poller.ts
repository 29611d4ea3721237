import type { RedisClient, RedisCommand } from '../../client/redis-client.js';
import { assertOwnKeys } from './foreign-key.js';
import { ReceivedMessage } from './message.js';
import { type OffsetKeeper, offsetKeeper } from './offset/offset-keeper.js';
import { type Place, placeAfter, startPlace } from './offset/place.js';
import { ReadingPlace } from './offset/reading-place.js';
import { retryInPlace } from './offset/retry-in-place.js';
import type { Phase, Poller } from './polling-consumer.js';
import type { Reader } from './reader.js';
import type { Run } from './run.js';
import { compareIds, deadLetterKey, entriesOf, readStreamInfo, type StreamEntry } from './streams.js';

/** How often the stream is asked what was trimmed or lost, in milliseconds. */
const LOOK_EVERY_MS = 1000;
const EMPTY = Buffer.alloc(0);

/** Waits until reading is worth it, at most so long; for a reader whose reads do not block. */
export type WaitForHint = (withinMs: number) => Promise<void>;

/**
 * The consumer of a stream that everybody reads by an offset of their own. One round is one write: the offset that the
 * round before has reached, and the next read.
 *
 *     read -> handler -> [HSET offset, read] -> handler -> [HSET offset, read] ...
 */
export class XreadPoller implements Poller {
  readonly #client: RedisClient;
  readonly #run: Run;
  readonly #reader: () => Reader;
  readonly #keeper: OffsetKeeper;
  readonly #waitForHint: WaitForHint | undefined;
  #place = new ReadingPlace({ id: '0-0', passed: undefined });
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** The last read found nothing; until then reading goes on without a wait. */
  #isCaughtUp = false;
  /** Redis refuses to store the offset; said once, not for every read. */
  #isRefused = false;
  /** Id of the newest entry when the drain began. */
  #drainTo: string | undefined;

  /** @param waitForHint without it reads block */
  constructor(client: RedisClient, run: Run, reader: () => Reader, waitForHint?: WaitForHint) {
    this.#client = client;
    this.#run = run;
    this.#reader = reader;
    this.#keeper = offsetKeeper(client, run.settings);
    this.#waitForHint = waitForHint;
  }

  /**
   * `$` would mean another place after each reconnect, so it is resolved to an id, once, and stored before the first
   * message: a reader that is started for the first time and dies early misses nothing either.
   */
  async open(): Promise<void> {
    const { key, from } = this.#run.settings;
    await assertOwnKeys(this.#client, [key, deadLetterKey(key)], 'stream');
    const stored = await this.#keeper.load();
    this.#place = new ReadingPlace(stored ?? startPlace(await readStreamInfo(this.#client, key), from));
    await this.#look();
    await this.#storeOffset();
  }

  /** The server may have come back with less than it had: look before reading on. */
  reconnected(): void {
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    this.#keeper.doubt();
  }

  async poll(phase: Phase): Promise<'more' | 'done'> {
    if (performance.now() - this.#lookedAt >= LOOK_EVERY_MS) await this.#look();
    if (phase === 'finishing') return this.#end();
    if (phase === 'draining') {
      this.#drainTo ??= (await readStreamInfo(this.#client, this.#run.settings.key)).lastGeneratedId;
      if (compareIds(this.#place.at.id, this.#drainTo) >= 0) return this.#endDrained();
    } else if (this.#isCaughtUp && this.#waitForHint !== undefined) {
      await this.#waitForHint(this.#run.settings.blockMs);
      this.#isCaughtUp = false;
      return 'more';
    }
    const entries = await this.#read(phase === 'running');
    this.#isCaughtUp = entries.length === 0;
    if (entries.length > 0) await this.#handle(entries);
    return this.#isCaughtUp && phase === 'draining' ? this.#endDrained() : 'more';
  }

  /** A last look, so that what was trimmed in front of the drain is counted. */
  async #endDrained(): Promise<'done'> {
    await this.#look();
    return this.#end();
  }

  async #end(): Promise<'done'> {
    await this.#storeOffset();
    return 'done';
  }

  async #read(wait: boolean): Promise<StreamEntry[]> {
    const { key, batch, blockMs } = this.#run.settings;
    const { at } = this.#place;
    const blocks = wait && this.#waitForHint === undefined;
    const read: RedisCommand = [
      ...['XREAD', 'COUNT', String(batch)],
      ...(blocks ? ['BLOCK', String(blockMs)] : []),
      ...['STREAMS', key, at.id],
    ];
    const storing = this.#keeper.storing(at);
    const commands = storing === undefined ? [read] : [storing, read];
    const outcomes = await this.#reader().exchange(commands, blocks ? blockMs : 0);
    const outcome = outcomes.at(-1);
    if (outcome?.state !== 'ok') {
      this.#lookedAt = Number.NEGATIVE_INFINITY;
      throw outcome?.error ?? new Error('no outcome');
    }
    // A Redis that is full or read-only can still be read: what is lost is that a crash repeats no more than a batch.
    const [store] = outcomes;
    const error =
      storing !== undefined && store !== undefined && store.state !== 'ok' ? store.error : undefined;
    if (storing !== undefined && error === undefined) this.#keeper.stored(at);
    if (error !== undefined && !this.#isRefused) this.#run.report(error);
    this.#isRefused = error !== undefined;
    this.#run.counters.polled();
    return entriesOf(outcome.reply);
  }

  /** @throws when it is not certain that the offset is stored */
  async #storeOffset(): Promise<void> {
    const { at } = this.#place;
    const storing = this.#keeper.storing(at);
    if (storing === undefined) return;
    const [outcome] = await this.#reader().exchange([storing]);
    if (outcome?.state !== 'ok') throw outcome?.error ?? new Error('no outcome');
    this.#keeper.stored(at);
  }

  async #handle(entries: readonly StreamEntry[]): Promise<void> {
    const { counters } = this.#run;
    counters.take(entries.length);
    const messages = entries.map((entry) => new ReceivedMessage(entry.raw ?? EMPTY, entry.id));
    const failures = await this.#run.handOver(messages, this.#keeper.contextAt(this.#after(entries)));
    const failedAt = performance.now();
    counters.inFlight -= entries.length - failures.size;
    // One by one and in order, so that neighbours of a poison message are not handed over with it again.
    for (const [index, entry] of entries.entries()) {
      const error = failures.get(index);
      if (error === undefined) continue;
      const context = this.#keeper.contextAt(this.#after(entries, index + 1));
      await retryInPlace(this.#run, this.#reader(), { entry, error, failedAt, context });
      counters.inFlight--;
    }
    this.#place.moveTo(this.#after(entries));
  }

  #after(entries: readonly StreamEntry[], count = entries.length): Place {
    return placeAfter(this.#place.at, entries, count);
  }

  async #look(): Promise<void> {
    const { key } = this.#run.settings;
    const finding = await this.#place.look(this.#client, key);
    this.#lookedAt = performance.now();
    if (finding.state === 'intact') {
      this.#run.counters.trimmed += finding.trimmed;
      return;
    }
    const { from, to } = finding;
    this.#run.counters.rewinds++;
    this.#keeper.doubt();
    this.#run.report(
      new Error(
        `${key} has lost entries up to ${from.id} that were read: back to ${to.id}, some may come again`,
      ),
    );
  }
}
