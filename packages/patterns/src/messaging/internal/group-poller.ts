import type { RedisClient, RedisCommand } from '../../client/redis-client.js';
import type { BlockingReader } from './blocking-reader.js';
import { finishesWithin } from './finishes-within.js';
import { assertOwnKeys } from './foreign-key.js';
import { KeepAlive } from './group/keep-alive.js';
import { Lease } from './group/lease.js';
import { isGroupGone, joinGroup, leaveGroup, removeSilentConsumers } from './group/membership.js';
import { TakenWork } from './group/taken-work.js';
import { Takeover } from './group/takeover.js';
import { TrimGap } from './group/trim-gap.js';
import type { Phase, Poller } from './polling-consumer.js';
import { MOST_HELD } from './retry-schedule.js';
import type { Run } from './run.js';
import {
  BEFORE_ALL,
  compareIds,
  deadLetterKey,
  entriesOf,
  readStreamInfo,
  type StreamEntry,
} from './streams.js';

/** How long a consumer that stops may take to say goodbye to Redis, in milliseconds. */
const LEAVE_WITHIN_MS = 1000;

/** Where this round takes entries from, if anywhere. */
type Source =
  | { readonly kind: 'new'; readonly blockMs: number }
  | { readonly kind: 'own-pending'; readonly after: string }
  | { readonly kind: 'takeover' }
  | { readonly kind: 'nothing' };

const NOTHING: Source = { kind: 'nothing' };

/**
 * The consumer of `stream-group`. One round is one write: the acknowledgements of the round before and the next
 * read. Then the handler gets what was read, and each message whose retry is due.
 *
 *     read > -> handler -> [XACK, read >] -> handler -> [XACK, read >] ...
 *
 * Now and then a round takes over what others left instead. Meanwhile a timer keeps alive what we have taken.
 */
export class GroupPoller implements Poller {
  readonly #client: RedisClient;
  readonly #run: Run;
  readonly #reader: () => BlockingReader;
  readonly #lease: Lease;
  readonly #work: TakenWork;
  readonly #keepAlive: KeepAlive;
  readonly #takeover: Takeover;
  readonly #trimGap: TrimGap;
  /** How far our own pending entries have been re-read; `undefined` when that is done. */
  #recoverAfter: string | undefined = BEFORE_ALL;
  /**
   * Whether a handler may have begun those of our pending entries that we do not know: they are those of a former
   * process of our name, or were being taken over. Otherwise only the answer that gave them to us was lost.
   */
  #wereBegun = true;
  #groupIsGone = false;
  /** Sources of the round before: a takeover never comes twice in a row, so new work goes on. */
  #tookOver = false;
  #isIdle = false;
  #drainTo: string | undefined;
  #reachedEnd = false;

  constructor(client: RedisClient, run: Run, reader: () => BlockingReader) {
    this.#client = client;
    this.#run = run;
    this.#reader = reader;
    this.#lease = new Lease(run.settings.leaseMs);
    this.#work = new TakenWork(client, run, reader);
    this.#keepAlive = new KeepAlive(client, run, this.#lease, this.#work);
    this.#takeover = new Takeover(reader, run.settings);
    this.#trimGap = new TrimGap(client, run.settings);
  }

  async open(): Promise<void> {
    const { settings } = this.#run;
    await assertOwnKeys(this.#client, [settings.key, deadLetterKey(settings.key)], 'stream');
    await joinGroup(this.#client, settings, settings.from === 'new' ? '$' : BEFORE_ALL);
    await this.#sweep();
    this.#keepAlive.start();
  }

  /** Replies that were on their way are lost, but what they gave us is pending: it comes before new work. */
  reconnected(): void {
    this.#recoverAfter = BEFORE_ALL;
  }

  async poll(phase: Phase): Promise<'more' | 'done'> {
    try {
      return await this.#round(phase);
    } catch (error) {
      if (isGroupGone(error)) this.#groupIsGone = true;
      throw error;
    }
  }

  async close(): Promise<void> {
    await finishesWithin(this.#leave(), LEAVE_WITHIN_MS);
  }

  /** Never rejects: what could not be given back passes to the others when the lease has run out. */
  async #leave(): Promise<void> {
    // A handler that is still at work keeps its messages: the timer then ends with it.
    if (!this.#run.isHandling) this.#keepAlive.stop();
    const { acks } = this.#work;
    const left = this.#work.leftBehind();
    try {
      if (acks.ids.length > 0) {
        const settled = acks.settle(await this.#client.sendMany(acks.commands(true)));
        if (settled.state === 'failed') throw settled.error;
        this.#run.counters.fenced += settled.fenced;
      }
      await leaveGroup(this.#client, this.#run.settings, left);
      this.#run.counters.inFlight -= left.length;
    } catch (error) {
      if (!isGroupGone(error)) this.#run.report(error);
    }
  }

  async #round(phase: Phase): Promise<'more' | 'done'> {
    if (this.#groupIsGone) await this.#restoreGroup();
    if (phase === 'draining') this.#drainTo ??= await this.#newestId();
    if (this.#trimGap.isDue) await this.#countTrimmed();
    const source = this.#nextSource(phase);
    if (source.kind === 'nothing' && phase !== 'running' && this.#work.isEmpty) {
      // A last look, so that what was trimmed in front of the drain is counted.
      if (phase === 'draining') await this.#countTrimmed();
      return 'done';
    }

    const entries = await this.#exchange(source);
    if (source.kind === 'takeover') await this.#takeOver();
    else await this.#take(source, entries);
    this.#tookOver = source.kind === 'takeover';
    // After a long pause (SIGSTOP) others may have what we hold: look before handling it again.
    if (this.#lease.isInDoubt(performance.now())) await this.#keepAlive.renew();
    await this.#work.workOffDue();
    if (source.kind === 'nothing') await this.#run.sleep(this.#work.nextDueIn(performance.now()) ?? 0);
    return 'more';
  }

  #nextSource(phase: Phase): Source {
    if (phase === 'finishing') return NOTHING;
    if (this.#recoverAfter !== undefined) return { kind: 'own-pending', after: this.#recoverAfter };
    if (this.#work.heldCount >= MOST_HELD) return NOTHING;
    if (phase === 'draining') return this.#reachedEnd ? NOTHING : { kind: 'new', blockMs: 0 };
    const now = performance.now();
    const untilTakeover = this.#takeover.dueIn(now, this.#isIdle);
    if (untilTakeover <= 0 && !this.#tookOver) return { kind: 'takeover' };
    // A read must not hold up a retry: all calls of the handler happen in this one loop.
    const untilRetry = this.#work.nextDueIn(now) ?? Number.POSITIVE_INFINITY;
    const waitMs = Math.ceil(Math.min(this.#run.settings.blockMs, untilRetry, untilTakeover));
    return { kind: 'new', blockMs: Math.max(1, waitMs) };
  }

  /** One write: the acknowledgements that are due, then the read. */
  async #exchange(source: Source): Promise<StreamEntry[]> {
    const { acks } = this.#work;
    const sentAt = performance.now();
    const confirming = acks.ids.length > 0 ? acks.commands(this.#lease.isInDoubt(sentAt)) : [];
    const read = this.#readCommand(source);
    const commands = read === undefined ? confirming : [...confirming, read];
    if (commands.length === 0) return [];
    const outcomes = await this.#reader().exchange(commands, source.kind === 'new' ? source.blockMs : 0);

    const settled = acks.settle(outcomes.slice(0, confirming.length));
    const outcome = read === undefined ? undefined : outcomes.at(-1);
    if (outcome !== undefined && outcome.state !== 'ok') throw outcome.error;
    if (settled.state === 'confirmed') this.#run.counters.fenced += settled.fenced;
    else if (outcome === undefined) throw settled.error;
    else this.#run.report(settled.error);
    this.#run.counters.polled();
    const entries = outcome === undefined ? [] : entriesOf(outcome.reply);
    if (entries.length > 0) this.#lease.given(sentAt, this.#work.isEmpty);
    return entries;
  }

  #readCommand(source: Source): RedisCommand | undefined {
    if (source.kind === 'nothing' || source.kind === 'takeover') return undefined;
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
      const unhandled = this.#work.withoutKnown(entries);
      if (this.#wereBegun) await this.#resume(unhandled);
      else if (unhandled.length > 0) await this.#work.begin(unhandled);
      if (last === undefined) this.#wereBegun = false;
      // Only now: what was not handed over yet is re-read from here.
      this.#recoverAfter = this.#recoverAfter === source.after ? last : this.#recoverAfter;
    } else if (source.kind === 'new') {
      this.#isIdle = entries.length === 0;
      this.#reachedEnd =
        source.blockMs === 0 && (last === undefined || compareIds(last, this.#drainTo ?? last) >= 0);
      if (entries.length > 0) await this.#work.begin(entries);
    }
  }

  async #takeOver(): Promise<void> {
    const sentAt = performance.now();
    // Until it is certain that none of them lies among our pending entries unnoticed.
    this.#wereBegun = true;
    const found = await this.#takeover.next();
    const { counters } = this.#run;
    counters.polled();
    counters.trimmed += found.trimmed;
    const entries = this.#work.withoutKnown(found.entries);
    counters.takenOver += entries.length;
    if (found.entries.length > 0) this.#lease.given(sentAt, this.#work.isEmpty);
    await this.#resume(entries);
    if (found.hasNameless) this.#recoverAfter = BEFORE_ALL;
    else this.#wereBegun = this.#recoverAfter !== undefined;
    if (entries.length > 0) await this.#sweep();
  }

  async #resume(entries: readonly StreamEntry[]): Promise<void> {
    if (entries.length === 0) return;
    try {
      await this.#work.resume(entries, async () => {
        await this.#exchange(NOTHING);
      });
    } catch (error) {
      this.#recoverAfter = BEFORE_ALL;
      throw error;
    }
  }

  /** Names of consumers that died with nothing pending. Not worth an end of ours when it fails. */
  async #sweep(): Promise<void> {
    const { settings } = this.#run;
    try {
      await removeSilentConsumers(this.#client, settings, settings.leaseMs);
    } catch (error) {
      this.#run.report(error);
    }
  }

  /** The counter is read after the answer has come: others may have counted meanwhile. */
  async #countTrimmed(): Promise<void> {
    const gone = await this.#trimGap.count();
    this.#run.counters.trimmed += gone;
  }

  async #newestId(): Promise<string> {
    return (await readStreamInfo(this.#client, this.#run.settings.key)).lastGeneratedId;
  }

  /** Somebody destroyed the group, or the server came back without it: what remains is read from the beginning. */
  async #restoreGroup(): Promise<void> {
    if (await joinGroup(this.#client, this.#run.settings, BEFORE_ALL)) await this.#work.forgetAll();
    this.#groupIsGone = false;
  }
}
