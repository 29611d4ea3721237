import { NotConnectedError } from '../../errors.js';
import type {
  CommandOutcome,
  ConnectionOptions,
  RedisCommand,
  RedisConnection,
  RedisReply,
  SendOptions,
} from '../redis-client.js';
import { Reconnector } from './reconnector.js';
import { exchange, notSent, type OpenWire, replyOf } from './wire.js';

/** A connection of its own: one wire after another, each with the same contract towards the pattern. */
export class ManagedConnection implements RedisConnection {
  readonly #link: Reconnector;
  readonly #defaultDeadlineMs: number;

  private constructor(link: Reconnector, defaultDeadlineMs: number) {
    this.#link = link;
    this.#defaultDeadlineMs = defaultDeadlineMs;
  }

  /** @throws {NotConnectedError} the first connection failed; nothing goes on trying in the background. */
  static async open(
    openWire: OpenWire,
    options: ConnectionOptions,
    defaultDeadlineMs: number,
  ): Promise<ManagedConnection> {
    const link = new Reconnector(openWire, options.name, {
      onLost: (error) => options.onDisconnect?.(error),
      onRestored: () => options.onReconnect?.(),
    });
    await link.open();
    return new ManagedConnection(link, defaultDeadlineMs);
  }

  get isConnected(): boolean {
    return this.#link.wire?.isReady ?? false;
  }

  async send(command: RedisCommand, options?: SendOptions): Promise<RedisReply> {
    const [outcome] = await this.sendMany([command], options);
    return replyOf(outcome);
  }

  sendMany(commands: readonly RedisCommand[], options?: SendOptions): Promise<CommandOutcome[]> {
    const wire = this.#link.wire;
    if (wire === undefined) return Promise.resolve(notSent(commands));
    return exchange(wire, commands, options?.deadlineMs ?? this.#defaultDeadlineMs);
  }

  drop(): void {
    this.#link.drop(new NotConnectedError('connection dropped by its watchdog'));
  }

  async close(): Promise<void> {
    this.#link.close();
  }
}
