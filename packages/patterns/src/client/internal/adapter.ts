import { InvalidOptionError } from '../../errors.js';
import type {
  AdapterOptions,
  CommandOutcome,
  ConnectionOptions,
  RedisClient,
  RedisCommand,
  RedisConnection,
  RedisReply,
  RedisSubscription,
  SendOptions,
  SubscribeOptions,
} from '../redis-client.js';
import { ManagedConnection } from './managed-connection.js';
import { ManagedSubscription } from './managed-subscription.js';
import { exchange, type OpenWire, replyOf, type Wire } from './wire.js';

/** What a client library has to provide; everything else is the same for all of them. */
export interface Library {
  /** Shown as `RedisClient.library`. */
  readonly name: string;
  /** The connection that was passed in. It reconnects in its own way and is never destroyed by us. */
  readonly shared: Wire;
  readonly openWire: OpenWire;
  /** See `exchange`; for libraries that resend unanswered commands behind our back. */
  readonly breakers?: Set<(cause: Error) => void>;
  /** Takes the adapter's listeners off the client that was passed in. */
  readonly detach?: () => void;
}

const DEFAULT_DEADLINE_MS = 5000;

/** Makes the contract out of a library. */
export class Adapter implements RedisClient {
  readonly #library: Library;
  readonly #deadlineMs: number;
  readonly #opened = new Set<RedisConnection | RedisSubscription>();

  /** @throws {InvalidOptionError} */
  constructor(library: Library, options: AdapterOptions = {}) {
    const deadlineMs = options.commandDeadlineMs ?? DEFAULT_DEADLINE_MS;
    if (!Number.isFinite(deadlineMs) || deadlineMs <= 0) {
      throw new InvalidOptionError('commandDeadlineMs', deadlineMs, 'a number of milliseconds above 0');
    }
    this.#library = library;
    this.#deadlineMs = deadlineMs;
  }

  get library(): string {
    return this.#library.name;
  }

  async send(command: RedisCommand, options?: SendOptions): Promise<RedisReply> {
    const [outcome] = await this.sendMany([command], options);
    return replyOf(outcome);
  }

  sendMany(commands: readonly RedisCommand[], options?: SendOptions): Promise<CommandOutcome[]> {
    const { shared, breakers } = this.#library;
    return exchange(shared, commands, options?.deadlineMs ?? this.#deadlineMs, breakers);
  }

  async openConnection(options: ConnectionOptions): Promise<RedisConnection> {
    const connection = await ManagedConnection.open(this.#library.openWire, options, this.#deadlineMs);
    return this.#remember(connection);
  }

  async subscribe(
    channel: string,
    onMessage: (body: Buffer) => void,
    options: SubscribeOptions,
  ): Promise<RedisSubscription> {
    return this.#remember(
      await ManagedSubscription.open(this.#library.openWire, channel, onMessage, options),
    );
  }

  async close(): Promise<void> {
    const opened = [...this.#opened];
    this.#opened.clear();
    this.#library.detach?.();
    await Promise.all(opened.map((resource) => resource.close()));
  }

  /** Closed with the adapter, unless it is closed before: then it is forgotten, so that nothing piles up. */
  #remember<Resource extends RedisConnection | RedisSubscription>(resource: Resource): Resource {
    this.#opened.add(resource);
    const close = resource.close.bind(resource);
    resource.close = () => {
      this.#opened.delete(resource);
      return close();
    };
    return resource;
  }
}
