import { DependencyUnavailableError, type Message } from '@weir/patterns';
import type { FaultConsumerSettings, HandlerRule } from './fault-api.js';

/** Wait before a handler whose database is down is asked again, in milliseconds. */
const STORE_RETRY_MS = 50;

/** Where the handler of a fault trial stops, once, at one message. */
export class TrapDoor {
  readonly #settings: Pick<FaultConsumerSettings, 'trap' | 'producer'>;
  readonly #onTrapped: () => Promise<void>;
  #isSprung = false;
  #release: (() => void) | undefined;

  constructor(settings: Pick<FaultConsumerSettings, 'trap' | 'producer'>, onTrapped: () => Promise<void>) {
    this.#settings = settings;
    this.#onTrapped = onTrapped;
  }

  /** Waits to be released when the message is in this batch and this is the point. */
  async pass(point: 'after-read' | 'after-handling', messages: readonly Message[]): Promise<void> {
    const { trap, producer } = this.#settings;
    if (trap === undefined || this.#isSprung) return;
    const isHere = trap.point === 'after-handling' ? point === 'after-handling' : point === 'after-read';
    if (!isHere) return;
    if (!messages.some((message) => message.producer === producer && message.sequence === trap.sequence))
      return;
    this.#isSprung = true;
    const released = new Promise<void>((resolve) => {
      this.#release = resolve;
    });
    await this.#onTrapped();
    await released;
  }

  /** Lets the handler go on; where none stands here, none will. */
  release(): void {
    this.#isSprung = true;
    this.#release?.();
  }
}

/** Which messages the handler refuses, and whether its database is there. */
export class Misbehaviour {
  readonly #rule: HandlerRule | undefined;
  readonly #producer: string;
  #isMended = false;
  #isStoreDown = false;

  constructor({ handler, producer }: Pick<FaultConsumerSettings, 'handler' | 'producer'>) {
    this.#rule = handler;
    this.#producer = producer;
  }

  mend(): void {
    this.#isMended = true;
  }

  setStoreDown(isDown: boolean): void {
    this.#isStoreDown = isDown;
  }

  /** @throws {DependencyUnavailableError} */
  useStore(): void {
    if (!this.#isStoreDown) return;
    throw new DependencyUnavailableError('the database is down', { retryAfterMs: STORE_RETRY_MS });
  }

  /** Indices of the messages that this attempt refuses. */
  refused(messages: readonly Message[]): ReadonlyMap<number, Error> {
    const failures = new Map<number, Error>();
    const rule = this.#rule;
    if (rule === undefined || this.#isMended) return failures;
    messages.forEach((message, index) => {
      if (message.producer === this.#producer && isRefused(rule, message)) {
        failures.set(index, new Error(`refused on purpose: ${message.id}, attempt ${message.attempt}`));
      }
    });
    return failures;
  }
}

/** Messages count from 1 for a reader, from 0 in their sequence: of 100, every 4th are 25. */
function isRefused({ fault, every, sequence }: HandlerRule, message: Message): boolean {
  if (fault === 'poison') return message.sequence === sequence;
  return message.attempt === 1 && (message.sequence + 1) % every === 0;
}
