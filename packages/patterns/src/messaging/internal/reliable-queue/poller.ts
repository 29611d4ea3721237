import type { CommandOutcome, RedisClient, RedisCommand } from '../../../client/redis-client.js';
import { RedisReplyError } from '../../../errors.js';
import type { BlockingReader } from '../blocking-reader.js';
import { assertOwnKeys } from '../foreign-key.js';
import { ReceivedMessage } from '../message.js';
import type { Phase, Poller } from '../polling-consumer.js';
import { type Held, MOST_HELD, MOVE_AGAIN_MS, RetrySchedule } from '../retry-schedule.js';
import type { Run } from '../run.js';
import { BegunAttempts } from './begun-attempts.js';
import { FinishedDeliveries } from './finished-deliveries.js';
import { sharedKeys } from './keys.js';
import { Lease } from './lease.js';
import { type Delivery, ProcessingList, replyOf, type Taken, takenOf } from './processing-list.js';

/** How long giving back may take at the end, in milliseconds. */
const LEAVE_WITHIN_MS = 1000;

/** What this round takes. `wait`: as soon as there is something; `look`: what is there. */
type Source =
  | { readonly kind: 'wait'; readonly blockMs: number }
  | { readonly kind: 'look' }
  | { readonly kind: 'nothing' };

/**
 * The consumer of `reliable-queue`. One round is one write: what was handled in the round before leaves the processing
 * list, and the next messages come into it. Then the handler gets those, and each message whose retry is due.
 *
 *     BLMOVE, TAKE -> handler -> [FINISH, BLMOVE, TAKE] -> handler -> [FINISH, BLMOVE, TAKE] ...
 *
 * Whatever goes wrong between taking a message and handing it over, the message is in our processing list. So there is
 * one way back for all of it: everything in the list that we do not hold returns to the head of the queue
 * (GIVE_BACK), before anything new is taken.
 */
export class ReliableQueuePoller implements Poller {
  readonly #client: RedisClient;
  readonly #run: Run;
  readonly #reader: () => BlockingReader;
  readonly #list: ProcessingList;
  readonly #lease: Lease;
  readonly #attempts: BegunAttempts;
  readonly #finished: FinishedDeliveries;
  readonly #retries = new RetrySchedule();
  /** Of held messages: ids of those whose move to the dead letters was not answered. */
  readonly #movesInDoubt = new Set<string>();
  /** What the handler works on at this moment. */
  #inHandler: readonly Buffer[] = [];
  #mustGiveBack = false;
  #lookedBackAt = performance.now();
  /** Redis is out of memory and refuses BLMOVE; looking still works. */
  #cannotWait = false;
  #reachedEnd = false;
  /** Deliveries so far; names the place of a foreign message, which has no id of its own. */
  #deliveries = 0;

  constructor(client: RedisClient, run: Run, reader: () => BlockingReader) {
    this.#client = client;
    this.#run = run;
    this.#reader = reader;
    this.#list = new ProcessingList(run.settings);
    this.#lease = new Lease(client, run, this.#list);
    this.#attempts = new BegunAttempts(reader, run.settings.key);
    this.#finished = new FinishedDeliveries(this.#list, this.#attempts, run.counters);
  }

  /** What a former process of our name held is given back, and counts as begun. */
  async open(): Promise<void> {
    const { list, stream, hash, zset } = sharedKeys(this.#run.settings.key);
    await assertOwnKeys(this.#client, [...list, this.#list.key], 'list');
    await assertOwnKeys(this.#client, stream, 'stream');
    await assertOwnKeys(this.#client, hash, 'hash');
    await assertOwnKeys(this.#client, zset, 'zset');
    await this.#client.send(this.#list.giveBack([], true));
    await this.#lease.begin();
  }

  /** A reply that was on its way is lost, but what it brought is in our list. */
  reconnected(): void {
    this.#mustGiveBack = true;
  }

  async poll(phase: Phase): Promise<'more' | 'done'> {
    if (this.#mustGiveBack || this.#isDueToLookBack()) await this.#giveBackUnknown();
    const source = this.#nextSource(phase);
    const mayEnd = source.kind === 'nothing' && phase !== 'running';
    if (mayEnd && this.#finished.isEmpty && this.#retries.size === 0) return 'done';
    try {
      await this.#work(await this.#exchange(source));
    } catch (error) {
      this.#mustGiveBack = true;
      throw error;
    }
    await this.#workOffDue();
    if (source.kind === 'nothing') await this.#run.sleep(this.#retries.nextDueIn(performance.now()) ?? 0);
    return 'more';
  }

  /**
   * What is in no hands returns to the queue at once. What a handler that does not end still works on, or was called
   * with, stays ours until the lease runs out: it was begun, and perhaps it is what keeps the handler.
   */
  async close(): Promise<void> {
    this.#lease.end();
    const giveBack = this.#list.giveBack(this.#inHandler, false);
    const finish = this.#finished.command();
    const commands = finish === undefined ? [giveBack] : [finish, giveBack];
    const outcomes = await this.#client.sendMany(commands, { deadlineMs: LEAVE_WITHIN_MS });
    const outcome = outcomes.at(-1);
    if (outcome?.state === 'ok') this.#run.counters.inFlight = this.#inHandler.length;
    else this.#run.report(outcome?.error);
  }

  async #giveBackUnknown(): Promise<void> {
    await this.#exchange({ kind: 'nothing' });
    const held = this.#retries.all().map(({ raw }) => raw);
    const [outcome] = await this.#reader().exchange([this.#list.giveBack(held, false)]);
    replyOf(outcome);
    this.#mustGiveBack = false;
    this.#reachedEnd = false;
    this.#lookedBackAt = performance.now();
  }

  /**
   * A BLMOVE on a connection that we gave up can be carried out long after we have looked: what it moves would stay in
   * our list, and we live, so nobody would take it away. So we look again once per lease.
   */
  #isDueToLookBack(): boolean {
    return performance.now() - this.#lookedBackAt > this.#run.settings.leaseMs;
  }

  #nextSource(phase: Phase): Source {
    if (phase === 'finishing' || this.#retries.size >= MOST_HELD) return { kind: 'nothing' };
    if (phase === 'draining') return this.#reachedEnd ? { kind: 'nothing' } : { kind: 'look' };
    if (this.#cannotWait) return { kind: 'look' };
    return { kind: 'wait', blockMs: this.#waitMs() };
  }

  /** A wait must not hold up a retry: all calls of the handler happen in this one loop. */
  #waitMs(): number {
    const untilRetry = Math.ceil(this.#retries.nextDueIn(performance.now()) ?? Number.POSITIVE_INFINITY);
    return Math.max(1, Math.min(this.#run.settings.blockMs, untilRetry));
  }

  /** One write: what was handled leaves, what is next comes. */
  async #exchange(source: Source): Promise<Taken> {
    const finish = this.#finished.command();
    const take = this.#takeCommands(source);
    const commands = finish === undefined ? take : [finish, ...take];
    if (commands.length === 0) return NOTHING;
    const blockMs = source.kind === 'wait' ? source.blockMs : 0;
    const outcomes = await this.#reader().exchange(commands, blockMs);
    const unsettled = finish && this.#finished.settle(outcomes.shift());
    if (unsettled !== undefined && source.kind === 'nothing') throw unsettled;
    if (unsettled !== undefined) this.#run.report(unsettled);
    const taken = this.#takenFrom(source, outcomes);
    this.#run.counters.polled();
    if (source.kind === 'look') await this.#looked(taken);
    return taken;
  }

  #takeCommands(source: Source): RedisCommand[] {
    const { batch } = this.#run.settings;
    if (source.kind === 'nothing') return [];
    if (source.kind === 'look') return [this.#list.take(batch)];
    return [this.#list.wait(source.blockMs), this.#list.take(batch - 1)];
  }

  #takenFrom(source: Source, outcomes: readonly CommandOutcome[]): Taken {
    if (source.kind === 'nothing') return NOTHING;
    if (source.kind === 'look') return takenOf(replyOf(outcomes[0]));
    const [waited, taken] = outcomes;
    if (isOutOfMemory(waited)) {
      this.#cannotWait = true;
      return isOutOfMemory(taken) ? NOTHING : takenOf(replyOf(taken));
    }
    const first = replyOf(waited);
    const { raws, recordsExist } = takenOf(replyOf(taken));
    return { raws: Buffer.isBuffer(first) ? [first, ...raws] : raws, recordsExist };
  }

  /** Looking does not wait, so when there was nothing and nobody drains, we do. */
  async #looked({ raws }: Taken): Promise<void> {
    if (raws.length > 0) return;
    this.#reachedEnd = true;
    if (!this.#cannotWait) return;
    this.#cannotWait = false;
    await this.#run.pause(this.#waitMs());
  }

  async #work({ raws, recordsExist }: Taken): Promise<void> {
    const { key } = this.#run.settings;
    const deliveries = raws.map((raw) => ({ raw, place: `${key}#${this.#deliveries++}` }));
    if (this.#retries.size > 0) this.#replaceHeld(deliveries);
    if (recordsExist) await this.#workRecorded(deliveries);
    else if (deliveries.length > 0) await this.#handle(deliveries, 1);
  }

  /** What we hold for a retry and get once more had been taken from us: this delivery counts. */
  #replaceHeld(deliveries: readonly Delivery[]): void {
    for (const { raw, place } of deliveries) {
      const { id } = new ReceivedMessage(raw, place);
      if (!this.#retries.has(id)) continue;
      this.#retries.remove(id);
      this.#run.counters.inFlight--;
    }
  }

  /**
   * Some of these may have been begun by a consumer that is gone, perhaps because of one of them. Begun once, they are
   * handed over together; begun more often, one by one, so that the guilty one is the one on record. The least
   * suspicious come first and leave the list before the next, so that they are not there when the process ends.
   */
  async #workRecorded(deliveries: readonly Delivery[]): Promise<void> {
    const begun = await this.#attempts.read(deliveries);
    const begunTimes = (times: number) => deliveries.filter((_delivery, index) => begun[index] === times);
    const [fresh, once] = [begunTimes(0), begunTimes(1)];
    if (fresh.length > 0) {
      await this.#handle(fresh, 1);
      await this.#exchange({ kind: 'nothing' });
    }
    if (once.length > 0) {
      await this.#attempts.begin(once);
      await this.#handle(once, 2);
      await this.#exchange({ kind: 'nothing' });
    }
    for (const [index, delivery] of deliveries.entries()) {
      const attempts = begun[index] ?? 0;
      if (attempts > 1) await this.#workSuspect(delivery, attempts);
    }
  }

  async #workSuspect(delivery: Delivery, attempts: number): Promise<void> {
    if (attempts > this.#run.settings.retryDelaysMs.length) {
      this.#run.counters.take(1);
      this.#hold(delivery, attempts, new Error(`${attempts} attempts ended with the process that made them`));
      return;
    }
    await this.#attempts.begin([delivery]);
    await this.#handle([delivery], attempts + 1);
    await this.#exchange({ kind: 'nothing' });
  }

  async #handle(deliveries: readonly Delivery[], attempt: number): Promise<void> {
    const { counters } = this.#run;
    counters.take(deliveries.length);
    if (attempt > 1) counters.retries += deliveries.length;
    const failures = await this.#handOver(deliveries, attempt);
    counters.inFlight -= deliveries.length - failures.size;
    for (const [index, delivery] of deliveries.entries()) {
      const error = failures.get(index);
      if (error === undefined) this.#finished.add(delivery);
      else this.#hold(delivery, attempt, error);
    }
  }

  async #handOver(deliveries: readonly Delivery[], attempt: number) {
    const messages = deliveries.map(({ raw, place }) => new ReceivedMessage(raw, place, attempt));
    this.#inHandler = deliveries.map(({ raw }) => raw);
    try {
      return await this.#run.handOver(messages);
    } finally {
      this.#inHandler = [];
    }
  }

  #hold({ raw, place }: Delivery, attempts: number, error: Error): void {
    const delayMs = this.#run.settings.retryDelaysMs[attempts - 1];
    const next = delayMs === undefined ? 'dead-letter' : 'handle';
    const { id } = new ReceivedMessage(raw, place);
    this.#retries.put({ id, raw, attempts, error, next, dueAt: performance.now() + (delayMs ?? 0) });
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
    const delivery = { raw: held.raw, place: held.id };
    const attempt = held.attempts + 1;
    counters.retries++;
    const failures = await this.#handOver([delivery], attempt);
    const error = failures.get(0);
    if (error !== undefined) return this.#hold(delivery, attempt, error);
    this.#retries.remove(held.id);
    this.#finished.add(delivery);
    counters.inFlight--;
  }

  async #moveToDeadLetters(held: Held): Promise<void> {
    const { counters } = this.#run;
    const [outcome] = await this.#reader().exchange([this.#list.deadLetter(held)]);
    if (outcome?.state !== 'ok') {
      if (outcome?.state === 'unknown') this.#movesInDoubt.add(held.id);
      this.#run.report(outcome?.error);
      this.#retries.put({ ...held, dueAt: performance.now() + MOVE_AGAIN_MS });
      return;
    }
    this.#retries.remove(held.id);
    counters.inFlight--;
    // Not there any more: the move before this one was carried out, or the message was taken from us.
    const isMoved = outcome.reply === 1 || this.#movesInDoubt.has(held.id);
    if (isMoved) counters.deadLettered++;
    else counters.fenced++;
    this.#movesInDoubt.delete(held.id);
    this.#run.report(held.error);
  }
}

function isOutOfMemory(outcome: CommandOutcome | undefined): boolean {
  return (
    outcome?.state === 'error' && outcome.error instanceof RedisReplyError && outcome.error.kind === 'OOM'
  );
}

const NOTHING: Taken = { raws: [], recordsExist: false };
