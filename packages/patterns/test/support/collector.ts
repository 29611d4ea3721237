import type { Message, MessageHandler } from '../../src/messaging/pattern.js';
import { waitFor } from './wait-for.js';

/** A copy of what the handler saw; the message itself is a view that need not outlive the call. */
export interface Seen {
  readonly body: Buffer;
  readonly id: string;
  readonly producer: string;
  readonly sequence: number;
  readonly attempt: number;
  readonly foreign: boolean;
}

/** A handler that remembers, and watches that its calls never overlap. */
export class Collector {
  readonly seen: Seen[] = [];
  readonly batches: number[] = [];
  overlapped = false;
  #running = false;

  /** @param inner what the handler does with a batch before it counts as seen */
  handler(inner: MessageHandler = () => undefined): MessageHandler {
    return async (messages, context) => {
      this.overlapped ||= this.#running;
      this.#running = true;
      this.batches.push(messages.length);
      try {
        await inner(messages, context);
        this.seen.push(...messages.map(copyOf));
      } finally {
        this.#running = false;
      }
    };
  }

  get sequences(): number[] {
    return this.seen.map((message) => message.sequence);
  }

  /** Waits for so many messages, repeats not counted. */
  async waitFor(count: number): Promise<void> {
    await waitFor(() => new Set(this.seen.map((m) => m.id)).size >= count, `${count} messages`);
  }
}

function copyOf(message: Message): Seen {
  const { id, producer, sequence, attempt, foreign } = message;
  return { body: Buffer.from(message.body), id, producer, sequence, attempt, foreign };
}

export function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `message ${index}`);
}

export function range(count: number, from = 0): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}
