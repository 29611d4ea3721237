import {
  BatchError,
  DependencyUnavailableError,
  type HandlerContext,
  type Message,
  type MessageHandler,
} from '../pattern.js';
import { Counters } from './counters.js';
import type { ConsumerSettings } from './options.js';

/** Raised inside a run whose stop deadline has passed: it unwinds whatever the run was waiting in. */
export class Abandoned extends Error {}

/** Failed messages of one handler call: index in the batch and why. Empty when all went well. */
export type Failures = ReadonlyMap<number, Error>;

const NONE: Failures = new Map();
const NO_CONTEXT: HandlerContext = {};

/** One run of a consumer, from start to stop: its handler, its counters, and ways to wait that a stop can end. */
export class Run {
  readonly counters = new Counters();
  readonly settings: ConsumerSettings;
  readonly #handler: MessageHandler;
  readonly #wakers = new Set<() => void>();
  #abandoned = false;
  #handling = false;

  constructor(settings: ConsumerSettings, handler: MessageHandler) {
    this.settings = settings;
    this.#handler = handler;
  }

  /**
   * Calls the handler. While it says that a dependency is unavailable, waits and calls it again with the same
   * messages: their attempts are not used up, and nothing new is taken meanwhile.
   * @throws {Abandoned}
   */
  async handOver(messages: readonly Message[], context: HandlerContext = NO_CONTEXT): Promise<Failures> {
    for (;;) {
      if (this.#abandoned) throw new Abandoned();
      const failures = await this.#call(messages, context);
      if (this.#abandoned) throw new Abandoned();
      if (!(failures instanceof DependencyUnavailableError)) {
        this.counters.handled += messages.length - failures.size;
        this.counters.errors += failures.size;
        return failures;
      }
      this.report(failures);
      await this.sleep(failures.retryAfterMs);
    }
  }

  /** Waits; only an abandoned run ends it early. @throws {Abandoned} */
  async sleep(ms: number): Promise<void> {
    const until = performance.now() + ms;
    for (let left = ms; left > 0; left = until - performance.now()) await this.pause(left);
  }

  /** Waits until woken (by a stop, a restored connection) or until the time is up. @throws {Abandoned} */
  async pause(ms: number): Promise<void> {
    if (!this.#abandoned) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          clearTimeout(timer);
          this.#wakers.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, ms);
        this.#wakers.add(wake);
      });
    }
    if (this.#abandoned) throw new Abandoned();
  }

  wake(): void {
    for (const wake of this.#wakers) wake();
  }

  /** The stop deadline has passed. */
  abandon(): void {
    this.#abandoned = true;
    this.wake();
  }

  get isAbandoned(): boolean {
    return this.#abandoned;
  }

  /** The handler has been called and has not returned. */
  get isHandling(): boolean {
    return this.#handling;
  }

  /** Tells the user about an error that the consumer survived. A logger that throws must not end the run. */
  report(error: unknown): void {
    try {
      this.settings.onError(error instanceof Error ? error : new Error(String(error)));
    } catch {
      // There is nobody left to tell.
    }
  }

  async #call(
    messages: readonly Message[],
    context: HandlerContext,
  ): Promise<Failures | DependencyUnavailableError> {
    this.counters.batches++;
    this.#handling = true;
    try {
      await this.#handler(messages, context);
      return NONE;
    } catch (thrown) {
      if (thrown instanceof DependencyUnavailableError) return thrown;
      // Who keeps the offset commits all or nothing, so then nothing of the batch is done.
      if (thrown instanceof BatchError && context.offset === undefined) {
        return new Map([...thrown.failures].filter(([index]) => messages[index] !== undefined));
      }
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      return new Map(messages.map((_message, index) => [index, error]));
    } finally {
      this.#handling = false;
    }
  }
}
