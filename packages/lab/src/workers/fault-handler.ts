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
  /** Sequence numbers that have been refused once. */
  readonly #refused = new Set<number>();
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

  /**
   * Indices of the messages that this call fails.
   * @param inOrder a handler that must keep the order stops at the first failure: those behind it fail with it, untouched
   */
  failures(messages: readonly Message[], inOrder: boolean): ReadonlyMap<number, Error> {
    const failures = new Map<number, Error>();
    for (const [index, message] of messages.entries()) {
      if (inOrder && failures.size > 0) failures.set(index, new Error('behind a message that failed'));
      else if (this.#refuses(message)) failures.set(index, new Error(`refused on purpose: ${message.id}`));
    }
    return failures;
  }

  #refuses({ producer, sequence }: Message): boolean {
    const rule = this.#rule;
    if (rule === undefined || this.#isMended || producer !== this.#producer) return false;
    if (rule.fault === 'poison') return sequence === rule.sequence;
    // Counted from 1: of 100 messages every 4th are 25.
    if ((sequence + 1) % rule.every !== 0 || this.#refused.has(sequence)) return false;
    this.#refused.add(sequence);
    return true;
  }
}
