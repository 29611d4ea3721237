import type { RedisClient, RedisSubscription } from '../../client/redis-client.js';
import { PatternError } from '../../errors.js';
import type {
  Consumer,
  ConsumerCounters,
  MessageHandler,
  MessagingPattern,
  StopOptions,
  StopReport,
} from '../pattern.js';
import { Counters } from './counters.js';
import { finishesWithin } from './finishes-within.js';
import { MessageBuffer } from './message-buffer.js';
import { type ConsumerSettings, stopDeadline } from './options.js';
import { assertServerKnows } from './required-commands.js';
import { Abandoned, Run } from './run.js';

type State =
  | { readonly name: 'idle' }
  | { readonly name: 'starting' }
  | { readonly name: 'running'; readonly run: Run; readonly subscription: RedisSubscription }
  | { readonly name: 'stopping'; readonly report: Promise<StopReport> };

/** How long the server may take to say what it knows, in milliseconds. */
const ANSWERS_WITHIN_MS = 5000;

/** What tells the consumers of channels apart. */
export interface ChannelKind {
  /** The pattern's, for the name of the connection. */
  readonly name: string;
  readonly sharded: boolean;
  /** See {@link MessagingPattern.requires}. */
  readonly requires: readonly string[];
}

/**
 * The consumer of `pubsub` and `sharded-pubsub`. Messages arrive whether the handler is ready or not, so they wait in a bounded
 * buffer; the handler gets what is there, up to `batch`, and is never called twice at a time.
 */
export class PubsubConsumer implements Consumer {
  readonly #client: RedisClient;
  readonly #settings: ConsumerSettings;
  readonly #kind: ChannelKind;
  readonly #buffer: MessageBuffer;
  #state: State = { name: 'idle' };
  #counters = new Counters();
  /** The handling that goes on at the moment; resolves when the buffer is empty. */
  #pumping: Promise<void> | undefined;

  constructor(client: RedisClient, settings: ConsumerSettings, kind: ChannelKind) {
    this.#client = client;
    this.#kind = kind;
    this.#settings = settings;
    this.#buffer = new MessageBuffer(settings.key);
  }

  async start(handler: MessageHandler): Promise<void> {
    if (this.#state.name !== 'idle') throw new PatternError('ALREADY_STARTED', 'the consumer is running');
    this.#state = { name: 'starting' };
    const run = new Run(this.#settings, handler);
    this.#counters = run.counters;
    this.#buffer.clear();
    try {
      await assertServerKnows(this.#client, this.#kind.requires, ANSWERS_WITHIN_MS);
      const subscription = await this.#client.subscribe(
        this.#settings.key,
        (raw) => this.#arrived(run, raw),
        {
          // CLIENT SETNAME takes printable ASCII without spaces.
          name: `weir:${this.#kind.name}:${this.#settings.consumerName}`.replace(/[^!-~]/g, '_'),
          sharded: this.#kind.sharded,
          heartbeatMs: this.#settings.blockMs,
          onAlive: () => run.counters.polled(),
          onResubscribe: () => run.counters.polled(),
          onGap: (error) => {
            run.counters.disconnects++;
            run.report(error ?? new Error('the subscription was lost'));
          },
        },
      );
      run.counters.polled();
      this.#state = { name: 'running', run, subscription };
    } catch (error) {
      this.#state = { name: 'idle' };
      throw error;
    }
  }

  async stop(options?: StopOptions): Promise<StopReport> {
    const deadlineMs = stopDeadline(options?.deadlineMs);
    const state = this.#state;
    if (state.name === 'stopping') return state.report;
    if (state.name !== 'running') throw new PatternError('NOT_STARTED', 'the consumer is not running');
    const report = this.#stop(state.run, state.subscription, deadlineMs);
    this.#state = { name: 'stopping', report };
    return report;
  }

  counters(): ConsumerCounters {
    return this.#counters.snapshot();
  }

  /** Redis confirms the end of the subscription after all that was published before, so that is here by then. */
  async #stop(run: Run, subscription: RedisSubscription, deadlineMs: number): Promise<StopReport> {
    const finishing = subscription.close().then(() => this.#pumping);
    const drained = await finishesWithin(finishing, deadlineMs);
    if (!drained) run.abandon();
    this.#state = { name: 'idle' };
    return { drained, unfinished: run.counters.inFlight, counters: run.counters.snapshot() };
  }

  #arrived(run: Run, raw: Buffer): void {
    if (run.isAbandoned) return;
    run.counters.received++;
    run.counters.polled();
    if (this.#buffer.size >= this.#settings.maxBuffered) {
      run.counters.dropped++;
      return;
    }
    run.counters.inFlight++;
    this.#buffer.push(raw);
    this.#pumping ??= this.#pump(run);
  }

  /**
   * Begins after the current turn, when the whole chunk of the socket has been taken apart: that is what makes
   * batches without waiting for any.
   */
  async #pump(run: Run): Promise<void> {
    await Promise.resolve();
    try {
      while (this.#buffer.size > 0) {
        const messages = this.#buffer.take(this.#settings.batch);
        const failures = await run.handOver(messages);
        run.counters.dropped += failures.size;
        run.counters.inFlight -= messages.length;
        for (const error of new Set(failures.values())) run.report(error);
      }
    } catch (error) {
      if (!(error instanceof Abandoned)) throw error;
    } finally {
      this.#pumping = undefined;
    }
  }
}
