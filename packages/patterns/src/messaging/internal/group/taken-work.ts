import type { RedisClient } from '../../../client/redis-client.js';
import { DEAD_LETTER } from '../../../scripts/dead-letter.js';
import type { BlockingReader } from '../blocking-reader.js';
import { deadLetterFields } from '../dead-letters.js';
import { ReceivedMessage } from '../message.js';
import { attemptsKey, RecordedAttempts } from '../recorded-attempts.js';
import { type Held, MOVE_AGAIN_MS, RetrySchedule } from '../retry-schedule.js';
import { Abandoned, type Run } from '../run.js';
import { deadLetterKey, entriesIn, type StreamEntry } from '../streams.js';
import { Acknowledgements } from './acknowledgements.js';
import type { Owned } from './keep-alive.js';
import { type GivenBack, isGroupGone } from './membership.js';

/** A call of the handler. */
interface Call {
  readonly ids: readonly string[];
  readonly attempt: number;
}

/**
 * What a consumer of a group has taken, and what becomes of it:
 *
 *     taken --> handler --ok-----------------------------------> acknowledgements
 *                  |                                                  ^
 *                  +--throws--> held --after its delay, alone--> handler
 *                                 |                                |
 *                                 |<------------throws-------------+
 *                                 +--no delays left--> dead letters
 *
 * At any of these places an entry may turn out to have passed to another consumer; it is then dropped, and what was
 * handled of it counts as `fenced`.
 */
export class TakenWork implements Owned {
  readonly acks: Acknowledgements;
  readonly #client: RedisClient;
  readonly #run: Run;
  readonly #reader: () => BlockingReader;
  readonly #recorded: RecordedAttempts;
  readonly #retries = new RetrySchedule();
  #call: Call = { ids: [], attempt: 1 };
  /** Found pending, and waiting for their turn in front of the handler. */
  readonly #waiting = new Set<string>();
  /** Of those in the call: passed to another consumer meanwhile. */
  readonly #lost = new Set<string>();

  constructor(client: RedisClient, run: Run, reader: () => BlockingReader) {
    this.#client = client;
    this.#run = run;
    this.#reader = reader;
    this.#recorded = new RecordedAttempts(reader, run.settings);
    this.acks = new Acknowledgements(run.settings, this.#recorded);
  }

  /** Messages that wait for a retry or for their way to the dead letters. */
  get heldCount(): number {
    return this.#retries.size;
  }

  get isEmpty(): boolean {
    return this.#retries.size === 0 && this.acks.ids.length === 0;
  }

  /** Milliseconds; `undefined` when nothing is held. */
  nextDueIn(now: number): number | undefined {
    return this.#retries.nextDueIn(now);
  }

  /** Drops what we still hold for a retry, and what was handled and only needs its acknowledgement again. */
  withoutKnown(entries: readonly StreamEntry[]): StreamEntry[] {
    const handled = new Set(this.acks.ids);
    return entries.filter(({ id }) => !handled.has(id) && !this.#retries.has(id));
  }

  /** Entries that no handler has seen before. */
  async begin(entries: readonly StreamEntry[]): Promise<void> {
    this.#run.counters.take(entries.length);
    await this.#handle(entries, 1);
  }

  /**
   * Entries that somebody has begun who is gone: a former process of our name, or a consumer whose lease has run out;
   * perhaps because of one of these. Begun once, they are handed over together; begun more often, one by one, so that
   * the guilty one is the one on record, and the least suspicious first.
   * @param flush writes the acknowledgements that are due
   */
  async resume(entries: readonly StreamEntry[], flush: () => Promise<void>): Promise<void> {
    this.#run.counters.take(entries.length);
    for (const { id } of entries) this.#waiting.add(id);
    try {
      const made = await this.#recorded.made(entries.map(({ id }) => id));
      const madeAt = (wanted: number) => entries.filter((_entry, index) => made[index] === wanted);
      await this.#again(madeAt(0), 1);
      await this.#again(madeAt(1), 2);
      for (const attempts of [...new Set(made)].filter((count) => count > 1).sort((a, b) => a - b)) {
        for (const entry of madeAt(attempts)) {
          if (attempts > this.#run.settings.retryDelaysMs.length) this.#giveUp(entry, attempts);
          else await this.#again([entry], attempts + 1);
          // At once: the next one may end the process, and this one would be blamed for it.
          await flush();
        }
      }
    } catch (error) {
      // Who stops gives them back; else they are found again among our pending entries.
      if (!(error instanceof Abandoned)) this.#dropWaiting([...this.#waiting]);
      throw error;
    }
  }

  /** Retries and dead letters whose time has come; each message alone, so that neighbours are innocent. */
  async workOffDue(): Promise<void> {
    for (const held of this.#retries.due(performance.now())) {
      if (!this.#retries.has(held.id)) continue;
      if (held.next === 'handle') await this.#retry(held);
      else await this.#moveToDeadLetters(held);
    }
  }

  ownedIds(): readonly string[] {
    if (this.#run.isAbandoned) return this.#run.isHandling ? this.#call.ids : [];
    const held = this.#retries.all().map(({ id }) => id);
    return [...this.#call.ids, ...this.#waiting, ...held, ...this.acks.ids];
  }

  lose(ids: readonly string[]): void {
    if (ids.length === 0) return;
    const { counters } = this.#run;
    const lost = new Set(ids);
    counters.fenced += this.acks.lose(lost);
    const inCall = this.#call.ids.filter((id) => lost.delete(id));
    for (const id of inCall) this.#lost.add(id);
    this.#dropWaiting([...lost]);
    for (const id of lost) if (this.#retries.remove(id)) counters.inFlight--;
  }

  /** What a consumer that has stopped leaves to the others: everything but what its handler is still working on. */
  leftBehind(): GivenBack[] {
    const inCall = new Set(this.#call.ids);
    const { attempt } = this.#call;
    // A call that is not under way waits for a dependency: no attempt was used up.
    const paused = this.#run.isHandling ? [] : [...inCall].map((id) => ({ id, attempts: attempt - 1 }));
    const waiting = [...this.#waiting].map((id) => ({ id, attempts: undefined }));
    const held = this.#retries.all().filter(({ id }) => !inCall.has(id));
    return [...paused, ...waiting, ...held.map(({ id, attempts }) => ({ id, attempts }))];
  }

  /**
   * The group was created anew, at the beginning of the stream: what is still there is given out again, so that what
   * we hold of it would only be handled twice. The rest is gone, and counted as trimmed.
   */
  async forgetAll(): Promise<void> {
    const { counters, settings } = this.#run;
    const held = this.#retries.all();
    this.acks.clear();
    for (const { id } of held) this.#retries.remove(id);
    counters.inFlight -= held.length;
    const outcomes = await this.#client.sendMany(held.map(({ id }) => ['XRANGE', settings.key, id, id]));
    counters.trimmed += outcomes.filter(
      (outcome) => outcome.state === 'ok' && entriesIn(outcome.reply).length === 0,
    ).length;
  }

  /** Another attempt at entries that were found pending; on record before the handler runs. */
  async #again(entries: readonly StreamEntry[], attempt: number): Promise<void> {
    const waiting = entries.filter(({ id }) => this.#waiting.has(id));
    if (waiting.length === 0) return;
    const lost = await this.#recorded.begin(waiting.map(({ id }) => id));
    this.#dropWaiting([...lost]);
    const ours = waiting.filter(({ id }) => this.#waiting.delete(id));
    await this.#handle(ours, attempt);
  }

  #giveUp({ id, raw }: StreamEntry, attempts: number): void {
    if (!this.#waiting.delete(id)) return;
    const error = new Error(`${attempts} attempts ended with the process that made them`);
    if (raw === undefined) this.#trimmed(id);
    else this.#hold(id, raw, attempts, error);
  }

  async #handle(entries: readonly StreamEntry[], attempt: number): Promise<void> {
    const { counters } = this.#run;
    const ids: string[] = [];
    const bodies: Buffer[] = [];
    for (const { id, raw } of entries) {
      if (raw === undefined) {
        this.#trimmed(id);
      } else {
        ids.push(id);
        bodies.push(raw);
      }
    }
    if (ids.length === 0) return;
    const messages = bodies.map((raw, index) => new ReceivedMessage(raw, ids[index] ?? '', attempt));
    if (attempt > 1) counters.retries += ids.length;
    const failures = await this.#handOver({ ids, attempt }, messages);
    ids.forEach((id, index) => {
      const error = failures.get(index);
      const raw = bodies[index];
      if (error === undefined || raw === undefined) this.#finish(id);
      else this.#hold(id, raw, attempt, error);
    });
  }

  async #handOver(call: Call, messages: readonly ReceivedMessage[]) {
    this.#call = call;
    const failures = await this.#run.handOver(messages);
    // An abandoned call stays where it is: leftBehind asks for it.
    this.#call = { ids: [], attempt: 1 };
    return failures;
  }

  /** Trimmed while it was pending: nothing is left to handle, and it would come back for ever. */
  #trimmed(id: string): void {
    this.#run.counters.trimmed++;
    this.#run.counters.inFlight--;
    this.acks.add(id);
  }

  async #retry(held: Held): Promise<void> {
    const { id, raw } = held;
    const attempt = held.attempts + 1;
    this.#run.counters.retries++;
    const failures = await this.#handOver({ ids: [id], attempt }, [new ReceivedMessage(raw, id, attempt)]);
    const error = failures.get(0);
    this.#retries.remove(id);
    if (error === undefined) this.#finish(id);
    else this.#hold(id, raw, attempt, error);
  }

  #finish(id: string): void {
    this.#run.counters.inFlight--;
    if (this.#lost.delete(id)) this.#run.counters.fenced++;
    else this.acks.add(id);
  }

  #hold(id: string, raw: Buffer, attempts: number, error: Error): void {
    if (this.#lost.delete(id)) {
      this.#run.counters.inFlight--;
      return;
    }
    const delayMs = this.#run.settings.retryDelaysMs[attempts - 1];
    const next = delayMs === undefined ? 'dead-letter' : 'handle';
    this.#retries.put({ id, raw, attempts, error, next, dueAt: performance.now() + (delayMs ?? 0) });
  }

  async #moveToDeadLetters(held: Held): Promise<void> {
    const { key, group, consumerName } = this.#run.settings;
    const { counters } = this.#run;
    const [outcome] = await this.#reader().exchange([
      [
        ...['EVAL', DEAD_LETTER, '3', key, deadLetterKey(key), attemptsKey(key, group)],
        ...[group, consumerName, held.id, ...deadLetterFields({ ...held, place: held.id })],
      ],
    ]);
    if (outcome?.state !== 'ok') {
      if (isGroupGone(outcome?.error)) throw outcome?.error;
      this.#run.report(outcome?.error);
      const isMoveInDoubt = held.isMoveInDoubt || outcome?.state === 'unknown';
      this.#retries.put({ ...held, isMoveInDoubt, dueAt: performance.now() + MOVE_AGAIN_MS });
      return;
    }
    this.#retries.remove(held.id);
    this.#recorded.forget([held.id]);
    counters.inFlight--;
    // Not pending for us any more: an earlier try moved it and the answer was lost, or it passed to another consumer.
    if (outcome.reply === 0 && !held.isMoveInDoubt) return;
    counters.deadLettered++;
    this.#run.report(held.error);
  }

  #dropWaiting(ids: readonly string[]): void {
    for (const id of ids) if (this.#waiting.delete(id)) this.#run.counters.inFlight--;
  }
}
