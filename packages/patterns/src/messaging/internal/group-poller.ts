import type { RedisClient, RedisCommand } from '../../client/redis-client.js';
import { RedisReplyError } from '../../errors.js';
import { DEAD_LETTER } from '../../scripts/dead-letter.js';
import type { BlockingReader } from './blocking-reader.js';
import { deadLetterFields } from './dead-letters.js';
import { assertOwnKeys } from './foreign-key.js';
import { ReceivedMessage } from './message.js';
import type { Phase, Poller } from './polling-consumer.js';
import { attemptsKey, RecordedAttempts } from './recorded-attempts.js';
import { type Held, RetrySchedule } from './retry-schedule.js';
import type { Run } from './run.js';
import {
  BEFORE_ALL,
  compareIds,
  deadLetterKey,
  entriesOf,
  readStreamInfo,
  type StreamEntry,
} from './streams.js';

/** With so many messages waiting for a retry nothing new is taken: something is wrong with all of them. */
const MOST_HELD = 1000;
/** Wait before a failed dead-letter move is tried again, in milliseconds. */
const MOVE_AGAIN_MS = 1000;
/** Ids in one XACK. */
const ACK_CHUNK = 1000;

/** What this round reads, if anything. */
type Source =
  | { readonly kind: 'new'; readonly blockMs: number }
  | { readonly kind: 'own-pending'; readonly after: string }
  | { readonly kind: 'nothing' };

/**
 * The consumer of `stream-group`. One round is one write: the acknowledgements of the round before and the next
 * read. Then the handler gets what was read, and each message whose retry is due.
 *
 *     read > -> handler -> [XACK, read >] -> handler -> [XACK, read >] ...
 */
export class GroupPoller implements Poller {
  readonly #client: RedisClient;
  readonly #run: Run;
  readonly #reader: () => BlockingReader;
  readonly #retries = new RetrySchedule();
  readonly #recorded: RecordedAttempts;
  /** Handled, acknowledgement not confirmed. */
  #acks: string[] = [];
  /** How far our own pending entries have been re-read; `undefined` when that is done. */
  #recoverAfter: string | undefined;
  /** Until the first re-read is done, pending entries are those of a former process of our name. */
  #isRestart = true;
  #groupIsMissing = false;
  #drainTo: string | undefined;
  #reachedEnd = false;

  constructor(client: RedisClient, run: Run, reader: () => BlockingReader) {
    this.#client = client;
    this.#run = run;
    this.#reader = reader;
    this.#recorded = new RecordedAttempts(reader, attemptsKey(run.settings.key, run.settings.group));
  }

  async open(): Promise<void> {
    const { key, from } = this.#run.settings;
    await assertOwnKeys(this.#client, [key, deadLetterKey(key)], 'stream');
    await this.#createGroup(from === 'new' ? '$' : BEFORE_ALL);
    this.#recoverAfter = BEFORE_ALL;
  }

  /** Replies that were on their way are lost, but what they gave us is pending: it comes before new work. */
  reconnected(): void {
    this.#recoverAfter = BEFORE_ALL;
  }

  async poll(phase: Phase): Promise<'more' | 'done'> {
    if (this.#groupIsMissing) await this.#restoreGroup();
    if (phase === 'draining') this.#drainTo ??= await this.#newestId();
    const source = this.#nextSource(phase);
    const mayEnd = source.kind === 'nothing' && phase !== 'running';
    if (mayEnd && this.#acks.length === 0 && this.#retries.size === 0) return 'done';

    const entries = await this.#exchange(source);
    await this.#take(source, entries);
    await this.#workOffDue();
    if (source.kind === 'nothing') await this.#run.sleep(this.#retries.nextDueIn(performance.now()) ?? 0);
    return 'more';
  }

  #nextSource(phase: Phase): Source {
    if (phase === 'finishing') return { kind: 'nothing' };
    if (this.#recoverAfter !== undefined) return { kind: 'own-pending', after: this.#recoverAfter };
    // Taking over what other consumers left pending (XAUTOCLAIM) is a further source, and belongs here.
    if (this.#retries.size >= MOST_HELD) return { kind: 'nothing' };
    if (phase === 'draining') return this.#reachedEnd ? { kind: 'nothing' } : { kind: 'new', blockMs: 0 };
    // A read must not hold up a retry: all calls of the handler happen in this one loop.
    const untilRetry = Math.ceil(this.#retries.nextDueIn(performance.now()) ?? Number.POSITIVE_INFINITY);
    return { kind: 'new', blockMs: Math.max(1, Math.min(this.#run.settings.blockMs, untilRetry)) };
  }

  /** One write: the acknowledgements that are due, then the read. */
  async #exchange(source: Source): Promise<StreamEntry[]> {
    const acks = this.#ackCommands();
    const read = this.#readCommand(source);
    const commands = read === undefined ? acks : [...acks, read];
    if (commands.length === 0) return [];
    const outcomes = await this.#reader().exchange(commands, source.kind === 'new' ? source.blockMs : 0);

    // An acknowledgement in doubt is simply sent again; XACK of an acknowledged entry does nothing.
    const failedAck = outcomes.slice(0, acks.length).find((outcome) => outcome.state !== 'ok');
    if (failedAck === undefined) this.#acks = [];
    const outcome = read === undefined ? failedAck : outcomes.at(-1);
    if (outcome === undefined) return [];
    if (outcome.state !== 'ok') {
      const { error } = outcome;
      this.#groupIsMissing = error instanceof RedisReplyError && error.kind === 'NOGROUP';
      throw error;
    }
    this.#run.counters.polled();
    return entriesOf(outcome.reply);
  }

  #ackCommands(): RedisCommand[] {
    const { key, group } = this.#run.settings;
    const commands: RedisCommand[] = [];
    for (let start = 0; start < this.#acks.length; start += ACK_CHUNK) {
      commands.push(['XACK', key, group, ...this.#acks.slice(start, start + ACK_CHUNK)]);
    }
    const forget = this.#recorded.forget(this.#acks);
    return forget === undefined ? commands : [...commands, forget];
  }

  #readCommand(source: Source): RedisCommand | undefined {
    if (source.kind === 'nothing') return undefined;
    const { key, group, consumerName, batch } = this.#run.settings;
    const block = source.kind === 'new' && source.blockMs > 0 ? ['BLOCK', String(source.blockMs)] : [];
    const after = source.kind === 'new' ? '>' : source.after;
    return [
      ...['XREADGROUP', 'GROUP', group, consumerName, 'COUNT', String(batch)],
      ...block,
      ...['STREAMS', key, after],
    ];
  }

  async #take(source: Source, entries: readonly StreamEntry[]): Promise<void> {
    const last = entries.at(-1)?.id;
    if (source.kind === 'own-pending') {
      const unhandled = this.#withoutKnown(entries);
      if (this.#isRestart) await this.#resume(unhandled);
      else if (unhandled.length > 0) await this.#handle(unhandled);
      if (last === undefined) this.#isRestart = false;
      // Only now: what was not handed over yet is re-read from here.
      this.#recoverAfter = this.#recoverAfter === source.after ? last : this.#recoverAfter;
    } else if (source.kind === 'new') {
      this.#reachedEnd =
        source.blockMs === 0 && (last === undefined || compareIds(last, this.#drainTo ?? last) >= 0);
      if (entries.length > 0) await this.#handle(entries);
    }
  }

  /** Drops what we still hold for a retry, and what was handled and only needs its acknowledgement again. */
  #withoutKnown(entries: readonly StreamEntry[]): StreamEntry[] {
    const handled = new Set(this.#acks);
    const known = (id: string) => handled.has(id) || this.#retries.has(id);
    return entries.filter((entry) => !known(entry.id));
  }

  /**
   * What a former process of our name was working on when it ended, perhaps because of one of these. Begun once,
   * they are handed over together; begun more often, one by one, so that the guilty one is the one on record.
   */
  async #resume(entries: readonly StreamEntry[]): Promise<void> {
    const begun = await this.#recorded.read(entries.map(({ id }) => id));
    const once = entries.filter((_entry, index) => begun[index] === 0);
    if (once.length > 0) {
      await this.#recorded.begin(once.map(({ id }) => id));
      await this.#handle(once, 2);
    }
    for (const [index, entry] of entries.entries()) {
      const attempts = (begun[index] ?? 0) + 1;
      if (attempts === 1) continue;
      if (attempts > this.#run.settings.retryDelaysMs.length && entry.raw !== undefined) {
        this.#run.counters.take(1);
        const error = new Error(`${attempts} attempts ended with the process that made them`);
        this.#hold(entry.id, entry.raw, attempts, error);
      } else {
        await this.#recorded.begin([entry.id]);
        await this.#handle([entry], attempts + 1);
        // At once: the next one may end the process, and this one would be blamed for it.
        await this.#exchange({ kind: 'nothing' });
      }
    }
  }

  async #handle(entries: readonly StreamEntry[], attempt = 1): Promise<void> {
    const { counters } = this.#run;
    counters.take(entries.length);
    const ids: string[] = [];
    const bodies: Buffer[] = [];
    for (const { id, raw } of entries) {
      if (raw === undefined) {
        // Trimmed while it was pending: nothing is left to handle, and it would come back for ever.
        counters.trimmed++;
        counters.inFlight--;
        this.#acks.push(id);
      } else {
        ids.push(id);
        bodies.push(raw);
      }
    }
    if (ids.length === 0) return;
    const messages = bodies.map((raw, index) => new ReceivedMessage(raw, ids[index] ?? '', attempt));
    if (attempt > 1) counters.retries += ids.length;
    const failures = await this.#run.handOver(messages);
    counters.inFlight -= ids.length - failures.size;
    ids.forEach((id, index) => {
      const error = failures.get(index);
      const raw = bodies[index];
      if (error === undefined || raw === undefined) this.#acks.push(id);
      else this.#hold(id, raw, attempt, error);
    });
  }

  /** Retries and dead letters whose time has come; each message alone, so that neighbours are innocent. */
  async #workOffDue(): Promise<void> {
    for (const held of this.#retries.due(performance.now())) {
      if (held.next === 'handle') await this.#retry(held);
      else await this.#moveToDeadLetters(held);
    }
  }

  async #retry(held: Held): Promise<void> {
    const { counters } = this.#run;
    const attempt = held.attempts + 1;
    counters.retries++;
    const failures = await this.#run.handOver([new ReceivedMessage(held.raw, held.id, attempt)]);
    const error = failures.get(0);
    if (error !== undefined) return this.#hold(held.id, held.raw, attempt, error);
    this.#retries.remove(held.id);
    this.#acks.push(held.id);
    counters.inFlight--;
  }

  #hold(id: string, raw: Buffer, attempts: number, error: Error): void {
    const delayMs = this.#run.settings.retryDelaysMs[attempts - 1];
    const next = delayMs === undefined ? 'dead-letter' : 'handle';
    this.#retries.put({ id, raw, attempts, error, next, dueAt: performance.now() + (delayMs ?? 0) });
  }

  async #moveToDeadLetters(held: Held): Promise<void> {
    const { key, group, consumerName } = this.#run.settings;
    const [outcome] = await this.#reader().exchange([
      [
        ...['EVAL', DEAD_LETTER, '3', key, deadLetterKey(key), attemptsKey(key, group)],
        ...[group, consumerName, held.id, ...deadLetterFields({ ...held, place: held.id })],
      ],
    ]);
    if (outcome?.state !== 'ok') {
      this.#run.report(outcome?.error);
      this.#retries.put({ ...held, dueAt: performance.now() + MOVE_AGAIN_MS });
      return;
    }
    this.#retries.remove(held.id);
    // Acknowledged by the script; once more does no harm, and takes its record along.
    this.#acks.push(held.id);
    this.#run.counters.inFlight--;
    this.#run.counters.deadLettered++;
    this.#run.report(held.error);
  }

  async #newestId(): Promise<string> {
    return (await readStreamInfo(this.#client, this.#run.settings.key)).lastGeneratedId;
  }

  /** Somebody destroyed the group, or the server came back without it: what remains is read from the beginning. */
  async #restoreGroup(): Promise<void> {
    await this.#createGroup(BEFORE_ALL);
    this.#groupIsMissing = false;
  }

  async #createGroup(at: string): Promise<void> {
    const { key, group } = this.#run.settings;
    try {
      await this.#client.send(['XGROUP', 'CREATE', key, group, at, 'MKSTREAM']);
    } catch (error) {
      if (!(error instanceof RedisReplyError) || error.kind !== 'BUSYGROUP') throw error;
    }
  }
}
