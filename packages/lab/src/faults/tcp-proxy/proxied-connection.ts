import { connect, type Socket } from 'node:net';
import type { Milliseconds } from '../../core/units.js';
import { DelayedPipe } from './delayed-pipe.js';
import type { ReplyWatch } from './reply-thief.js';
import { resetSocket } from './reset-socket.js';

export type Direction = 'toServer' | 'toClient';

export interface ProxiedConnectionOptions {
  readonly host: string;
  readonly port: number;
  readonly delayMs: (direction: Direction) => Milliseconds;
  /** Follows commands and replies; absent where bytes are opaque. */
  readonly watch: ReplyWatch | undefined;
  readonly onBytes: (direction: Direction, count: number) => void;
  /** The proxy has reset the connection, or passed a reset on. */
  readonly onReset: () => void;
  readonly onClosed: () => void;
}

/** A client's connection, the one to the server behind it, and the two directions between them. */
export class ProxiedConnection {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #pipes: readonly DelayedPipe[];
  readonly #options: ProxiedConnectionOptions;
  #open = 2;
  #isReset = false;

  constructor(client: Socket, options: ProxiedConnectionOptions) {
    const { host, port, delayMs, watch, onBytes } = options;
    const server = connect({ host, port, allowHalfOpen: true, noDelay: true });
    this.#client = client;
    this.#server = server;
    this.#options = options;
    for (const socket of [client, server]) {
      // 'close' follows; the pipe carries the loss to the other side.
      socket.on('error', () => undefined);
      socket.once('close', () => this.#closed());
    }
    const onBroken = (): void => this.reset();
    this.#pipes = [
      new DelayedPipe(client, server, {
        delayMs: () => delayMs('toServer'),
        onBytes: (count) => onBytes('toServer', count),
        onBroken,
        ...(watch && { filter: (bytes) => ({ bytes: watch.toServer(bytes), broken: false }) }),
      }),
      new DelayedPipe(server, client, {
        delayMs: () => delayMs('toClient'),
        onBytes: (count) => onBytes('toClient', count),
        onBroken,
        ...(watch && { filter: (bytes) => watch.toClient(bytes) }),
      }),
    ];
  }

  hold(): void {
    for (const pipe of this.#pipes) pipe.hold();
  }

  resume(): void {
    for (const pipe of this.#pipes) pipe.resume();
  }

  /** RST on both sides; what is under way is lost. */
  reset(): void {
    if (this.#isReset || this.#open === 0) return;
    this.#isReset = true;
    for (const pipe of this.#pipes) pipe.dispose();
    resetSocket(this.#client);
    resetSocket(this.#server);
    this.#options.onReset();
  }

  #closed(): void {
    this.#open--;
    if (this.#open > 0) return;
    for (const pipe of this.#pipes) pipe.dispose();
    this.#options.onClosed();
  }
}
