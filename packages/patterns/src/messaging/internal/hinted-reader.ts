import type {
  CommandOutcome,
  RedisClient,
  RedisCommand,
  RedisSubscription,
} from '../../client/redis-client.js';
import { connectionName, type Reader } from './reader.js';
import type { Run } from './run.js';

/** Where producers say that something was written. */
export function hintChannel(key: string): string {
  return `${key}:hint`;
}

/**
 * Reads over the client's shared connection, since no read ever blocks it, and is woken by a subscription. A hint says
 * only that reading is worth it, so one that is lost, or comes twice, or too early, does no harm: whoever waits for one
 * gives up after a while and reads all the same.
 */
export class HintedReader implements Reader {
  readonly #client: RedisClient;
  #subscription: RedisSubscription | undefined;
  /** A hint that came while nobody waited. */
  #isHinted = false;
  #endWait: (() => void) | undefined;

  private constructor(client: RedisClient) {
    this.#client = client;
  }

  static async open(
    client: RedisClient,
    name: string,
    run: Run,
    onReconnect: () => void,
  ): Promise<HintedReader> {
    const reader = new HintedReader(client);
    reader.#subscription = await client.subscribe(hintChannel(run.settings.key), () => reader.#hint(), {
      name: connectionName(name),
      onResubscribe: () => {
        onReconnect();
        reader.#hint();
      },
      onGap: (error) => {
        // What cost us the subscription may have cost the server its data.
        onReconnect();
        run.counters.disconnects++;
        run.report(error ?? new Error('the subscription to hints was lost'));
      },
    });
    return reader;
  }

  exchange(commands: readonly RedisCommand[]): Promise<CommandOutcome[]> {
    return this.#client.sendMany(commands);
  }

  /** Waits for a hint, at most so long; not at all when one has come since the last wait. */
  async hinted(withinMs: number): Promise<void> {
    if (!this.#isHinted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, withinMs);
        this.#endWait = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#endWait = undefined;
    }
    this.#isHinted = false;
  }

  async interrupt(): Promise<void> {
    this.#hint();
  }

  async close(): Promise<void> {
    await this.#subscription?.close();
  }

  #hint(): void {
    this.#isHinted = true;
    this.#endWait?.();
  }
}
