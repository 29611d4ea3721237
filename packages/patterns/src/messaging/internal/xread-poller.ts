import type { CommandOutcome, RedisClient, RedisCommand } from '../../client/redis-client.js';
import { Backoff } from './backoff.js';
import type { BlockingReader } from './blocking-reader.js';
import { assertOwnKeys } from './foreign-key.js';
import { ReceivedMessage } from './message.js';
import type { Phase, Poller } from './polling-consumer.js';
import type { Run } from './run.js';
import {
  BEFORE_ALL,
  compareIds,
  deadLetterKey,
  entriesIn,
  entriesOf,
  FIELD,
  readStreamInfo,
  type StreamEntry,
  type StreamInfo,
} from './streams.js';
import { TrimWatch } from './trim-watch.js';

/** How often the stream is asked what was trimmed, in milliseconds. */
const TRIM_CHECK_EVERY_MS = 1000;
const REMEMBERED_OFFSETS = 100;

/** The consumer of `stream-xread`. */
export class XreadPoller implements Poller {
  readonly #client: RedisClient;
  readonly #run: Run;
  readonly #reader: () => BlockingReader;
  /** Everything up to this id has been handled. Exclusive as it is: XREAD answers what comes after it. */
  #offset = BEFORE_ALL;
  /** Offsets before this one, oldest first, in case the server comes back with less than it had. */
  readonly #passed: string[] = [];
  #trimWatch: TrimWatch | undefined;
  #checkedAt = 0;
  /** Id of the newest entry when the drain began. */
  #drainTo: string | undefined;

  constructor(client: RedisClient, run: Run, reader: () => BlockingReader) {
    this.#client = client;
    this.#run = run;
    this.#reader = reader;
  }

  /** `$` would mean another place after each reconnect, so it is resolved to an id, once. */
  async open(): Promise<void> {
    const { key, from } = this.#run.settings;
    await assertOwnKeys(this.#client, [key], 'stream');
    const info = await readStreamInfo(this.#client, key);
    this.#offset = from === 'new' ? info.lastGeneratedId : BEFORE_ALL;
    this.#trimWatch = new TrimWatch(info, from === 'new' ? 0 : info.length);
    this.#checkedAt = performance.now();
  }

  /** The server may have come back with less than it had: look before reading on. */
  reconnected(): void {
    this.#checkedAt = Number.NEGATIVE_INFINITY;
  }

  async poll(phase: Phase): Promise<'more' | 'done'> {
    if (performance.now() - this.#checkedAt >= TRIM_CHECK_EVERY_MS) await this.#check();
    if (phase === 'finishing') return 'done';
    if (phase === 'draining') {
      this.#drainTo ??= (await readStreamInfo(this.#client, this.#run.settings.key)).lastGeneratedId;
      if (compareIds(this.#offset, this.#drainTo) >= 0) return this.#drained();
    }
    const entries = await this.#read(phase === 'running');
    if (entries.length > 0) await this.#handle(entries);
    return entries.length === 0 && phase === 'draining' ? this.#drained() : 'more';
  }

  /** A last look, so that what was trimmed in front of the drain is counted. */
  async #drained(): Promise<'done'> {
    await this.#check();
    return 'done';
  }

  async #read(wait: boolean): Promise<StreamEntry[]> {
    const { key, batch, blockMs } = this.#run.settings;
    const block = wait ? ['BLOCK', String(blockMs)] : [];
    const command: RedisCommand = [
      ...['XREAD', 'COUNT', String(batch)],
      ...block,
      ...['STREAMS', key, this.#offset],
    ];
    const [outcome] = await this.#reader().exchange([command], wait ? blockMs : 0);
    return entriesOf(acceptedReply(this.#run, outcome));
  }

  async #handle(entries: readonly StreamEntry[]): Promise<void> {
    const { counters } = this.#run;
    counters.take(entries.length);
    const messages = entries.map((entry) => new ReceivedMessage(entry.raw ?? EMPTY, entry.id));
    const failures = await this.#run.handOver(messages);
    const failedAt = performance.now();
    counters.inFlight -= entries.length - failures.size;
    // One by one and in order, so that neighbours of a poison message are not handed over with it again.
    for (const [index, error] of failures) {
      const entry = entries[index];
      if (entry !== undefined) await this.#retryInPlace(entry, error, failedAt);
      counters.inFlight--;
    }
    this.#moveTo(entries.at(-1)?.id ?? this.#offset);
    this.#trimWatch?.read(entries.length);
  }

  /** The delays count from the failure, so the many of a failed batch share the first one. */
  async #retryInPlace(entry: StreamEntry, firstError: Error, firstFailedAt: number): Promise<void> {
    const { counters, settings } = this.#run;
    let attempt = 1;
    let error = firstError;
    let failedAt = firstFailedAt;
    for (const delayMs of settings.retryDelaysMs) {
      await this.#run.sleep(failedAt + delayMs - performance.now());
      attempt++;
      counters.retries++;
      const failures = await this.#run.handOver([new ReceivedMessage(entry.raw ?? EMPTY, entry.id, attempt)]);
      const failure = failures.get(0);
      if (failure === undefined) return;
      error = failure;
      failedAt = performance.now();
    }
    await this.#deadLetter(entry, error, attempt);
    counters.deadLettered++;
    this.#run.report(error);
  }

  /**
   * Repeated until it is there, because the offset moves past the message next. A repeat after an unknown outcome
   * can write it twice; the `id` field tells.
   */
  async #deadLetter(entry: StreamEntry, error: Error, attempts: number): Promise<void> {
    const { key } = this.#run.settings;
    const command: RedisCommand = [
      ...['XADD', deadLetterKey(key), '*', 'id', entry.id, 'reason', reasonOf(error)],
      ...['attempts', String(attempts), FIELD, entry.raw ?? EMPTY],
    ];
    const backoff = new Backoff();
    for (;;) {
      const [outcome] = await this.#reader().exchange([command]);
      if (outcome?.state === 'ok') return;
      this.#run.report(outcome?.error);
      await this.#run.pause(backoff.next());
    }
  }

  async #check(): Promise<void> {
    const info = await readStreamInfo(this.#client, this.#run.settings.key);
    this.#checkedAt = performance.now();
    if (compareIds(info.lastGeneratedId, this.#offset) < 0) await this.#rewind(info);
    // After a rewind the sums begin anew once the reader has caught up.
    const isAtEnd = compareIds(info.lastGeneratedId, this.#offset) === 0;
    if (this.#trimWatch === undefined && isAtEnd) this.#trimWatch = new TrimWatch(info, 0);
    this.#run.counters.trimmed += this.#trimWatch?.lost(info, this.#offset) ?? 0;
  }

  /**
   * The stream ends before the offset: the server lost its last writes in a crash, or the stream was deleted and
   * begun anew. What has come since may have ids below the offset and would never be read, so go back to the
   * newest place that this stream knows, or to its beginning: rather repeat than lose.
   */
  async #rewind(info: StreamInfo): Promise<void> {
    const { key } = this.#run.settings;
    const places = [...this.#passed, this.#offset].reverse();
    const outcomes = await this.#client.sendMany(places.map((id) => ['XRANGE', key, id, id]));
    const known = outcomes.findIndex((outcome) => {
      if (outcome.state !== 'ok') throw outcome.error;
      return entriesIn(outcome.reply).length > 0;
    });
    const offset = places[known] ?? BEFORE_ALL;
    this.#run.report(
      new Error(
        `${key} ends at ${info.lastGeneratedId}, before the offset ${this.#offset}: back to ${offset}`,
      ),
    );
    this.#passed.length = 0;
    this.#offset = offset;
    this.#trimWatch = undefined;
  }

  #moveTo(offset: string): void {
    this.#passed.push(this.#offset);
    if (this.#passed.length > REMEMBERED_OFFSETS) this.#passed.shift();
    this.#offset = offset;
  }
}

const EMPTY = Buffer.alloc(0);
const LONGEST_REASON = 500;

export function reasonOf(error: Error): string {
  return error.message.slice(0, LONGEST_REASON);
}

/** @throws what became of a read that was not answered. */
export function acceptedReply(run: Run, outcome: CommandOutcome | undefined) {
  if (outcome === undefined) throw new Error('no outcome');
  if (outcome.state !== 'ok') throw outcome.error;
  run.counters.polled();
  return outcome.reply;
}
