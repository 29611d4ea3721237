import type { CommandOutcome, RedisCommand } from '../../../client/redis-client.js';
import type { Counters } from '../counters.js';
import { ReceivedMessage } from '../message.js';
import type { BegunAttempts } from './begun-attempts.js';
import type { Delivery, ProcessingList } from './processing-list.js';

/**
 * What was handled and is not yet known to have left the processing list.
 *
 * A removal whose answer was lost is sent again. Messages of weir producers differ from each other, so the second
 * removal finds nothing if the first one was carried out. Two messages of other software may be equal, and the second
 * removal would take the other one: those are left in the list, and come back rather than get lost.
 */
export class FinishedDeliveries {
  readonly #list: ProcessingList;
  readonly #attempts: BegunAttempts;
  readonly #counters: Counters;
  #deliveries: Delivery[] = [];
  #digests: string[] = [];
  #isInDoubt = false;

  constructor(list: ProcessingList, attempts: BegunAttempts, counters: Counters) {
    this.#list = list;
    this.#attempts = attempts;
    this.#counters = counters;
  }

  get isEmpty(): boolean {
    return this.#deliveries.length === 0;
  }

  add(delivery: Delivery): void {
    this.#deliveries.push(delivery);
    this.#digests.push(...this.#attempts.forget(delivery));
  }

  /** The command that removes them all; to be followed by {@link settle}. */
  command(): RedisCommand | undefined {
    if (this.isEmpty) return undefined;
    const raws = this.#deliveries.map(({ raw }) => raw);
    return this.#list.finish(raws, this.#digests);
  }

  /** @returns why they are not known to be removed, if so; they stay here then */
  settle(outcome: CommandOutcome | undefined): Error | undefined {
    if (outcome?.state === 'ok') {
      // What is missing after a removal in doubt was most likely removed by that one.
      if (!this.#isInDoubt) this.#counters.fenced += this.#deliveries.length - Number(outcome.reply);
      this.#deliveries = [];
      this.#digests = [];
      this.#isInDoubt = false;
      return undefined;
    }
    if (outcome?.state === 'unknown') {
      this.#isInDoubt = true;
      this.#deliveries = this.#deliveries.filter(
        ({ raw, place }) => !new ReceivedMessage(raw, place).foreign,
      );
    }
    return outcome?.error ?? new Error('no outcome');
  }
}
