import type { Consumer, ConsumerCounters, MessagingPattern, RedisClient } from '@weir/patterns';
import type { Milliseconds } from '../core/units.js';
import type { MessageStore } from '../stores/message-store.js';
import { publicName } from './pattern-parameter.js';
import type { PatternResult } from './pattern-result.js';
import { saveMessages } from './save-messages.js';
import { ServiceError } from './service-error.js';

export interface StartOptions {
  /** Most messages in one transaction, 1 to 1000. */
  readonly batch: number;
  readonly from: 'new' | 'beginning';
}

/**
 * Where a pattern with offsets of its own keeps them. `memory`: each start begins as `from` says, as in the original.
 * `redis`: beside the stream. `store`: in the transaction that stores the messages. Those two go on where the run before
 * has ended.
 */
export const OFFSET_PLACES = ['memory', 'redis', 'store'] as const;
export type OffsetPlace = (typeof OFFSET_PLACES)[number];

export interface PatternRunOptions {
  readonly pattern: MessagingPattern;
  readonly client: RedisClient;
  readonly key: string;
  readonly store: MessageStore;
  readonly consumerName: string;
  readonly offset: OffsetPlace;
  /** Errors that the consumer survived, for the log. */
  readonly onError: (error: Error) => void;
}

type State =
  | { readonly name: 'idle'; readonly last: Figures | undefined }
  | { readonly name: 'starting' }
  | Running
  | (Omit<Running, 'name'> & { readonly name: 'stopping'; readonly result: Promise<PatternResult> });

interface Running {
  readonly name: 'running';
  readonly consumer: Consumer;
  readonly tally: Tally;
}

type Figures = Omit<PatternResult, 'pattern' | 'running' | 'drained' | 'unfinished'> & {
  readonly counters: ConsumerCounters | undefined;
};

/** The consumer of one pattern in the service: started, stopped, started again. Every message goes to the store. */
export class PatternRun {
  readonly #options: PatternRunOptions;
  #state: State = { name: 'idle', last: undefined };

  constructor(options: PatternRunOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#state.name === 'running' || this.#state.name === 'stopping';
  }

  /** @throws {ServiceError} 409 when it runs already; and what Redis or the store answers */
  async start({ batch, from }: StartOptions): Promise<void> {
    const { pattern, client, key, store, consumerName, offset: place, onError } = this.#options;
    const offset = place === 'store' ? { load: (reader: string) => store.loadOffset(reader) } : place;
    const before = this.#state;
    if (before.name !== 'idle') {
      throw new ServiceError(409, 'ALREADY_STARTED', `${pattern.name} is ${before.name}; stop it first`);
    }
    this.#state = { name: 'starting' };
    try {
      await store.ping();
      const consumer = pattern.createConsumer(client, { key, batch, from, consumerName, offset, onError });
      const tally = new Tally();
      await consumer.start(async (messages, context) => {
        tally.begin();
        const { inserted, duplicates } = await saveMessages(store, pattern.name, messages, context);
        tally.saved(inserted, duplicates);
      });
      this.#state = { name: 'running', consumer, tally };
    } catch (error) {
      this.#state = before;
      throw error;
    }
  }

  /**
   * Ends the run.
   * @param drain whether what was sent before is handled first; otherwise only what was taken is
   * @throws {ServiceError} 409 when it does not run
   */
  async stop(drain: boolean, deadlineMs: Milliseconds): Promise<PatternResult> {
    const state = this.#state;
    if (state.name !== 'running') {
      const { name } = this.#options.pattern;
      throw new ServiceError(409, 'NOT_STARTED', `${name} is ${state.name}; start it first`);
    }
    const result = this.#stop(state, drain, deadlineMs);
    this.#state = { ...state, name: 'stopping', result };
    return result;
  }

  /** Ends the run with the service: `undefined` when there is none, or when a stop under way has ended it. */
  async end(deadlineMs: Milliseconds): Promise<PatternResult | undefined> {
    const state = this.#state;
    if (state.name === 'running') return this.stop(false, deadlineMs);
    if (state.name === 'stopping') await state.result;
    return undefined;
  }

  async #stop(running: Running, drain: boolean, deadlineMs: Milliseconds): Promise<PatternResult> {
    const { consumer, tally } = running;
    try {
      const { drained, unfinished, counters } = await consumer.stop({ drain, deadlineMs });
      const figures = figuresOf(tally, counters);
      this.#state = { name: 'idle', last: figures };
      const { counters: _, ...shown } = figures;
      return { pattern: publicName(this.#options.pattern), running: false, ...shown, drained, unfinished };
    } catch (error) {
      this.#state = running;
      throw error;
    }
  }

  /** Live figures of this run, or of the last one when none is under way. */
  figures(): Figures {
    const state = this.#state;
    if (state.name === 'running' || state.name === 'stopping') {
      return figuresOf(state.tally, state.consumer.counters());
    }
    return (state.name === 'idle' ? state.last : undefined) ?? NOTHING;
  }
}

/** When messages were handled and what the store said of them. */
class Tally {
  readonly startedAt = new Date();
  readonly #startedMs = performance.now();
  #firstMs: number | undefined;
  #lastMs = 0;
  stored = 0;
  duplicates = 0;

  /** Messages have arrived at the handler. */
  begin(): void {
    this.#firstMs ??= performance.now();
  }

  saved(inserted: number, duplicates: number): void {
    this.#lastMs = performance.now();
    this.stored += inserted;
    this.duplicates += duplicates;
  }

  /** From the first message's arrival to the last one's commit: without the idle time before and after. */
  get durationMs(): Milliseconds {
    return this.#firstMs === undefined ? 0 : Math.max(0, this.#lastMs - this.#firstMs);
  }

  /** The original's window: from start to now. */
  get windowMs(): Milliseconds {
    return performance.now() - this.#startedMs;
  }
}

function figuresOf(tally: Tally, counters: ConsumerCounters): Figures {
  const { durationMs, windowMs, stored, duplicates, startedAt } = tally;
  const perSecond = durationMs === 0 ? 0 : (counters.handled * 1000) / durationMs;
  return {
    totalMessages: counters.handled,
    durationMs: Math.round(durationMs),
    throughput: `${perSecond.toFixed(2)} msg/sec`,
    windowMs: Math.round(windowMs),
    stored,
    duplicates,
    retries: counters.retries,
    deadLettered: counters.deadLettered,
    dropped: counters.dropped,
    trimmed: counters.trimmed,
    startedAt: startedAt.toISOString(),
    counters,
  };
}

const NOTHING: Figures = {
  totalMessages: 0,
  durationMs: 0,
  throughput: '0.00 msg/sec',
  windowMs: 0,
  stored: 0,
  duplicates: 0,
  retries: 0,
  deadLettered: 0,
  dropped: 0,
  trimmed: 0,
  startedAt: '',
  counters: undefined,
};
