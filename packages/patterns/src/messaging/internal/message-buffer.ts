import { ReceivedMessage } from './message.js';

/** Messages that have arrived and wait for the handler, oldest first. */
export class MessageBuffer {
  readonly #channel: string;
  #messages: ReceivedMessage[] = [];
  /** Index of the oldest; those before it are taken. Shifting each out would cost time for every one behind. */
  #head = 0;
  #arrived = 0;

  constructor(channel: string) {
    this.#channel = channel;
  }

  get size(): number {
    return this.#messages.length - this.#head;
  }

  /** The place of a foreign message is its number here: a channel gives it no id. */
  push(raw: Buffer): void {
    this.#messages.push(new ReceivedMessage(raw, `${this.#channel}#${this.#arrived++}`));
  }

  /** @returns the oldest `count`, or all there are. */
  take(count: number): ReceivedMessage[] {
    const taken = this.#messages.slice(this.#head, this.#head + count);
    this.#head += taken.length;
    if (this.#head === this.#messages.length) {
      this.#messages = [];
      this.#head = 0;
    } else if (this.#head > 10_000) {
      this.#messages = this.#messages.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }

  clear(): void {
    this.#messages = [];
    this.#head = 0;
  }
}
