import type { RedisSubscription, SubscribeOptions } from '../redis-client.js';
import { Reconnector } from './reconnector.js';
import { type Channel, exchange, type OpenWire, type Wire } from './wire.js';

/** How long a PING on a subscribed connection may take before the socket counts as dead, in milliseconds. */
const PONG_WITHIN_MS = 1000;
const DEFAULT_HEARTBEAT_MS = 1000;

/**
 * A subscription that survives its sockets and counts what it missed. A subscriber never writes, so it would
 * never notice a dead peer: a PING asks, and the socket that does not answer is replaced.
 */
export class ManagedSubscription implements RedisSubscription {
  readonly #channel: Channel;
  readonly #options: SubscribeOptions;
  readonly #link: Reconnector;
  #heartbeat: NodeJS.Timeout | undefined;
  #gaps = 0;
  #closed = false;

  private constructor(
    openWire: OpenWire,
    channel: string,
    onMessage: (body: Buffer) => void,
    options: SubscribeOptions,
  ) {
    this.#channel = { name: channel, sharded: options.sharded ?? false };
    this.#options = options;
    this.#link = new Reconnector(openWire, options.name, {
      prepare: (wire) => wire.subscribe(this.#channel, onMessage),
      onLost: (error) => {
        this.#gaps++;
        options.onGap?.(error);
      },
      onRestored: () => options.onResubscribe?.(),
    });
  }

  /** @throws {InvalidOptionError | NotConnectedError} see `RedisClient.subscribe`. */
  static async open(
    openWire: OpenWire,
    channel: string,
    onMessage: (body: Buffer) => void,
    options: SubscribeOptions,
  ): Promise<ManagedSubscription> {
    const subscription = new ManagedSubscription(openWire, channel, onMessage, options);
    await subscription.#link.open();
    subscription.#beat();
    return subscription;
  }

  get gaps(): number {
    return this.#gaps;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#heartbeat);
    const wire = this.#link.wire;
    if (wire?.isReady) await withDeadline(wire.unsubscribe(this.#channel), PONG_WITHIN_MS);
    this.#link.close();
  }

  #beat(): void {
    this.#heartbeat = setTimeout(async () => {
      const wire = this.#link.wire;
      if (wire !== undefined) await this.#ping(wire);
      if (!this.#closed) this.#beat();
    }, this.#options.heartbeatMs ?? DEFAULT_HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  async #ping(wire: Wire): Promise<void> {
    const [outcome] = await exchange(wire, [['PING']], PONG_WITHIN_MS);
    if (outcome?.state === 'ok') this.#options.onAlive?.();
    else if (this.#link.wire === wire) this.#link.drop(outcome?.error ?? new Error('no answer to PING'));
  }
}

/** Waits for the work or for the deadline, and swallows a failure: the socket is closed next in either case. */
async function withDeadline(work: Promise<void>, deadlineMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, deadlineMs);
  });
  await Promise.race([work.catch(() => undefined), deadline]);
  clearTimeout(timer);
}
