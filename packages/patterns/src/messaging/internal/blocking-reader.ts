import type {
  CommandOutcome,
  RedisClient,
  RedisCommand,
  RedisConnection,
} from '../../client/redis-client.js';
import { connectionName, type Reader } from './reader.js';
import type { Run } from './run.js';

/** What a blocked read may take beyond its block time before its connection counts as dead, in milliseconds. */
const WATCHDOG_MARGIN_MS = 1000;
/** How often an interrupted read is asked again to end, in milliseconds. */
const INTERRUPT_EVERY_MS = 20;

/**
 * The connection of a consumer's blocking reads, with a watchdog: a read that is still silent after its block
 * time plus a margin sits on a dead socket (failed over, blackholed), so the socket is dropped. The server may
 * have answered into it; what that means is the pattern's guarantee (see each pattern).
 */
export class BlockingReader implements Reader {
  readonly #client: RedisClient;
  readonly #connection: RedisConnection;
  #clientId: string | undefined;
  #isBlocked = false;

  private constructor(client: RedisClient, connection: RedisConnection) {
    this.#client = client;
    this.#connection = connection;
  }

  /** @param onReconnect called before anything else is sent on a restored connection */
  static async open(
    client: RedisClient,
    name: string,
    run: Run,
    onReconnect: () => void,
  ): Promise<BlockingReader> {
    const connection = await client.openConnection({
      name: connectionName(name),
      onReconnect: () => {
        void reader.#learnClientId();
        onReconnect();
        run.wake();
      },
      onDisconnect: (error) => {
        run.counters.disconnects++;
        if (error !== undefined) run.report(error);
      },
    });
    const reader = new BlockingReader(client, connection);
    await reader.#learnClientId();
    return reader;
  }

  /**
   * Writes the commands at once and waits for their outcomes.
   * @param blockMs how long the last command may block; 0 when none does
   */
  async exchange(commands: readonly RedisCommand[], blockMs = 0): Promise<CommandOutcome[]> {
    const deadlineMs = blockMs + WATCHDOG_MARGIN_MS;
    this.#isBlocked = blockMs > 0;
    const outcomes = await this.#connection.sendMany(commands, blockMs > 0 ? { deadlineMs } : {});
    this.#isBlocked = false;
    if (outcomes.some((outcome) => outcome.state === 'unknown')) this.#connection.drop();
    return outcomes;
  }

  /** Ends a read that is blocked now, as if its time were up: no message is lost by it. Never rejects. */
  async interrupt(): Promise<void> {
    while (this.#isBlocked && this.#clientId !== undefined) {
      const [outcome] = await this.#client.sendMany([['CLIENT', 'UNBLOCK', this.#clientId, 'TIMEOUT']]);
      // Refused or unreachable: the block time ends the read as well.
      if (outcome?.state !== 'ok') return;
      await new Promise((resolve) => setTimeout(resolve, INTERRUPT_EVERY_MS));
    }
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #learnClientId(): Promise<void> {
    this.#clientId = undefined;
    const [outcome] = await this.#connection.sendMany([['CLIENT', 'ID']]);
    if (outcome?.state === 'ok') this.#clientId = String(outcome.reply);
  }
}
