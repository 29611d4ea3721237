import type { RedisClient } from '../../client/redis-client.js';
import { PatternError } from '../../errors.js';
import type { Consumer, ConsumerCounters, MessageHandler, StopOptions, StopReport } from '../pattern.js';
import { Backoff } from './backoff.js';
import { BlockingReader } from './blocking-reader.js';
import { Counters } from './counters.js';
import { finishesWithin } from './finishes-within.js';
import { type ConsumerSettings, stopDeadline } from './options.js';
import type { OpenReader, Reader } from './reader.js';
import { Abandoned, Run } from './run.js';

/**
 * What a consumer is about: `running` takes new messages and waits for them; `draining` takes what was sent
 * before the stop and waits for nothing; `finishing` takes nothing and completes what was taken.
 */
export type Phase = 'running' | 'draining' | 'finishing';

/** The part of a polling consumer that differs between patterns. */
export interface Poller {
  /** Prepares what must exist before the first message counts. Throws what `start` is to throw. */
  open(): Promise<void>;
  /**
   * One round: read, hand over, confirm. `done` when nothing is left to do in this phase. Throws for errors of
   * Redis and of the network; the round is then repeated after a pause.
   */
  poll(phase: Phase): Promise<'more' | 'done'>;
  /** The connection is back; nothing has been sent on it yet. */
  reconnected(): void;
  /** The last thing of a run, also when the deadline of the stop has passed: returns what is in no hands. */
  close?(): Promise<void>;
}

export type MakePoller<R extends Reader = BlockingReader> = (run: Run, reader: () => R) => Poller;

interface Running<R> {
  readonly name: 'running';
  readonly run: Run;
  readonly reader: R;
  readonly poller: Poller;
  readonly loop: Promise<void>;
}

type State<R> =
  | { readonly name: 'idle' }
  | { readonly name: 'starting' }
  | Running<R>
  | { readonly name: 'stopping'; readonly report: Promise<StopReport> };

/** A consumer that asks Redis for messages, in a loop that survives whatever Redis and the network do. */
export class ReadingConsumer<R extends Reader> implements Consumer {
  readonly #client: RedisClient;
  readonly #patternName: string;
  readonly #settings: ConsumerSettings;
  readonly #makePoller: MakePoller<R>;
  readonly #openReader: OpenReader<R>;
  #state: State<R> = { name: 'idle' };
  #phase: Phase = 'running';
  #counters = new Counters();

  constructor(
    client: RedisClient,
    patternName: string,
    settings: ConsumerSettings,
    makePoller: MakePoller<R>,
    openReader: OpenReader<R>,
  ) {
    this.#client = client;
    this.#patternName = patternName;
    this.#settings = settings;
    this.#makePoller = makePoller;
    this.#openReader = openReader;
  }

  async start(handler: MessageHandler): Promise<void> {
    if (this.#state.name !== 'idle') throw new PatternError('ALREADY_STARTED', 'the consumer is running');
    this.#state = { name: 'starting' };
    this.#phase = 'running';
    const run = new Run(this.#settings, handler);
    this.#counters = run.counters;
    let reader: R | undefined;
    try {
      const poller = this.#makePoller(run, () => {
        if (reader === undefined) throw new PatternError('NOT_STARTED', 'the consumer has no connection yet');
        return reader;
      });
      const name = `weir:${this.#patternName}:${this.#settings.consumerName}`;
      reader = await this.#openReader(this.#client, name, run, () => poller.reconnected());
      await poller.open();
      run.counters.polled();
      this.#state = { name: 'running', run, reader, poller, loop: this.#loop(run, poller) };
    } catch (error) {
      await reader?.close();
      this.#state = { name: 'idle' };
      throw error;
    }
  }

  async stop(options?: StopOptions): Promise<StopReport> {
    const deadlineMs = stopDeadline(options?.deadlineMs);
    const state = this.#state;
    if (state.name === 'stopping') return state.report;
    if (state.name !== 'running') throw new PatternError('NOT_STARTED', 'the consumer is not running');
    this.#phase = options?.drain ? 'draining' : 'finishing';
    const report = this.#stop(state, deadlineMs);
    this.#state = { name: 'stopping', report };
    return report;
  }

  counters(): ConsumerCounters {
    return this.#counters.snapshot();
  }

  async #stop({ run, reader, poller, loop }: Running<R>, deadlineMs: number): Promise<StopReport> {
    run.wake();
    void reader.interrupt();
    const drained = await finishesWithin(loop, deadlineMs);
    if (!drained) {
      run.abandon();
      // Unwinds whatever the run was waiting in, unless that is the handler.
      await finishesWithin(loop, 0);
    }
    await poller.close?.();
    await reader.close();
    this.#state = { name: 'idle' };
    return { drained, unfinished: run.counters.inFlight, counters: run.counters.snapshot() };
  }

  async #loop(run: Run, poller: Poller): Promise<void> {
    const backoff = new Backoff();
    for (;;) {
      const phase = this.#phase;
      try {
        const progress = await poller.poll(phase);
        backoff.reset();
        if (progress === 'done' && phase !== 'running') return;
      } catch (error) {
        if (error instanceof Abandoned || run.isAbandoned) return;
        run.report(error);
        try {
          await run.pause(backoff.next());
        } catch {
          return;
        }
      }
    }
  }
}

/** One whose reads block, on a connection of its own. */
export class PollingConsumer extends ReadingConsumer<BlockingReader> {
  constructor(client: RedisClient, patternName: string, settings: ConsumerSettings, makePoller: MakePoller) {
    super(client, patternName, settings, makePoller, BlockingReader.open);
  }
}
