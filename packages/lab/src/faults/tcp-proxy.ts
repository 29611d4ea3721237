import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { type Random, seededRandom } from '../core/random.js';
import type { Milliseconds } from '../core/units.js';
import { ProxiedConnection } from './tcp-proxy/proxied-connection.js';
import { type LostReply, ReplyThief, type ReplyToLose } from './tcp-proxy/reply-thief.js';
import { resetSocket } from './tcp-proxy/reset-socket.js';

/**
 * A TCP proxy on the loopback interface that makes the network between a client and its server as bad as a
 * test or an experiment wants it. One behaviour per method; what is not set has no effect. The model is toxiproxy
 * (https://github.com/Shopify/toxiproxy), which has no lost reply: that takes knowing where a reply begins.
 *
 *     client ──▶ 127.0.0.1:port ── toServer: delayed ──▶ server
 *            ◀── toClient: delayed ──────────────────────
 *
 * Bytes keep their order and their number, half-closed connections stay half-closed, and back-pressure passes
 * through: a sender is stopped when the receiver is, not because of a delay.
 */
export interface TcpProxy {
  /** The target's URL with the proxy in its place: give this one to the client. */
  readonly url: string;
  readonly port: number;
  readonly counters: ProxyCounters;
  /** Changes conditions from now on, also for connections that are open. What is left out stays as it is. */
  set(conditions: Partial<ProxyConditions>): void;
  /** Resets every open connection on both sides (TCP RST: `ECONNRESET`). Returns how many that were. */
  resetAll(): number;
  /** From now on new connections go to this server, as after a failover; those that are open stay where they are. */
  redirect(target: string): void;
  /**
   * A partition: connections are accepted and nothing passes in either direction, not even the end of a
   * connection. A second partition takes the place of one that is under way. Resolves when it is over.
   */
  blackhole(partition: Partition): Promise<void>;
  /**
   * Arms the loss of one reply: the command reaches the server and is carried out, its reply and all that follow do not reach the
   * client, and the connection is reset once the earlier replies have been delivered. Resolves when it has happened.
   * Commands of all connections count. On a connection in RESP2 subscriber mode, where replies come without
   * commands, the count is off: name the command.
   * @throws Error when the proxy was opened with `protocol: 'opaque'`
   */
  loseReply(which?: ReplyToLose): Promise<LostReply>;
  /** Takes back every loss that has not happened yet; their promises stay pending. */
  disarm(): void;
  /** Resets what is open, ends every partition, frees the port. Idempotent. */
  close(): Promise<void>;
}

export interface TcpProxyOptions {
  /** URL of the server. Its port may be left out where the scheme has one (redis, mysql, postgres). */
  readonly target: string;
  readonly conditions?: Partial<ProxyConditions>;
  /** Of the jitter. Default 1. */
  readonly seed?: number;
  /**
   * `resp` (default): commands and replies are counted, which {@link TcpProxy.loseReply} needs. `opaque`: bytes only,
   * for other protocols, TLS, and where every microsecond counts.
   */
  readonly protocol?: 'resp' | 'opaque';
}

export interface ProxyConditions {
  /** Delay on the way from client to server. */
  readonly toServer: Delay;
  /** Delay on the way back. */
  readonly toClient: Delay;
  /**
   * New connections are reset as soon as they are accepted. (A closed port would give `ECONNREFUSED`, and somebody
   * else could take it meanwhile.)
   */
  readonly refuse: boolean;
}

/** Bytes arrive `latencyMs` later, give or take up to `jitterMs` (uniform), and never before earlier ones. */
export interface Delay {
  readonly latencyMs: Milliseconds;
  /** At most `latencyMs`. Default 0. */
  readonly jitterMs?: Milliseconds;
}

export interface Partition {
  /** How long. */
  readonly forMs: Milliseconds;
  /**
   * `resume`: what was sent meanwhile arrives, as TCP retransmits it when a partition heals. `reset`: it is gone and
   * the connections with it.
   */
  readonly ending: 'resume' | 'reset';
}

export interface ProxyCounters {
  readonly accepted: number;
  readonly refused: number;
  /** Connections open now. */
  readonly open: number;
  /** Connections reset by the proxy, for whatever reason. */
  readonly resets: number;
  /** Bytes received from clients and from the server. */
  readonly bytesToServer: number;
  readonly bytesToClient: number;
  readonly repliesLost: number;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'redis:': 6379,
  'rediss:': 6379,
  'mysql:': 3306,
  'postgres:': 5432,
  'postgresql:': 5432,
};
const NO_DELAY: Delay = { latencyMs: 0 };

/** A round trip time as conditions: half of it each way. */
export function roundTrip(milliseconds: Milliseconds): Pick<ProxyConditions, 'toServer' | 'toClient'> {
  const half = { latencyMs: milliseconds / 2 };
  return { toServer: half, toClient: half };
}

/**
 * Starts a proxy on a free port.
 * @throws Error when the target has no port, or a delay is negative or its jitter larger than its latency
 */
export async function startTcpProxy(options: TcpProxyOptions): Promise<TcpProxy> {
  const proxy = new LoopbackProxy(options);
  await proxy.listen();
  return proxy;
}

class LoopbackProxy implements TcpProxy {
  #target: URL;
  #targetPort: number;
  readonly #random: Random;
  readonly #server: Server;
  readonly #connections = new Set<ProxiedConnection>();
  readonly #thief: ReplyThief | undefined;
  readonly #tally = { accepted: 0, refused: 0, resets: 0, bytesToServer: 0, bytesToClient: 0 };
  #conditions: ProxyConditions = { toServer: NO_DELAY, toClient: NO_DELAY, refuse: false };
  /** Ends the partition under way. */
  #endPartition: (() => void) | undefined;
  #port = 0;

  constructor({ target, conditions = {}, seed = 1, protocol = 'resp' }: TcpProxyOptions) {
    this.#target = new URL(target);
    this.#targetPort = portOf(this.#target);
    this.#random = seededRandom(seed);
    this.#thief = protocol === 'resp' ? new ReplyThief() : undefined;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#accept(client));
    this.set(conditions);
  }

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the kernel gave no port');
    this.#port = address.port;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    const url = new URL(this.#target);
    url.host = `127.0.0.1:${this.#port}`;
    return url.href;
  }

  get counters(): ProxyCounters {
    return { ...this.#tally, open: this.#connections.size, repliesLost: this.#thief?.lost ?? 0 };
  }

  set(conditions: Partial<ProxyConditions>): void {
    for (const delay of [conditions.toServer, conditions.toClient]) {
      if (delay !== undefined) checkDelay(delay);
    }
    this.#conditions = { ...this.#conditions, ...conditions };
  }

  redirect(target: string): void {
    const url = new URL(target);
    this.#targetPort = portOf(url);
    this.#target = url;
  }

  resetAll(): number {
    const open = [...this.#connections];
    for (const connection of open) connection.reset();
    return open.length;
  }

  blackhole({ forMs, ending }: Partition): Promise<void> {
    this.#endPartition?.();
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#endPartition = undefined;
        if (ending === 'reset') this.resetAll();
        for (const connection of this.#connections) connection.resume();
        resolve();
      };
      const timer = setTimeout(finish, forMs);
      this.#endPartition = finish;
      for (const connection of this.#connections) connection.hold();
    });
  }

  loseReply(which: ReplyToLose = {}): Promise<LostReply> {
    if (this.#thief === undefined) throw new Error('a proxy for opaque bytes knows no replies to lose');
    return this.#thief.arm(which);
  }

  disarm(): void {
    this.#thief?.disarm();
  }

  async close(): Promise<void> {
    this.resetAll();
    this.#endPartition?.();
    if (!this.#server.listening) return;
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(client: Socket): void {
    if (this.#conditions.refuse) {
      this.#tally.refused++;
      // The client may reset it as well, at the same time; that is no error of ours.
      client.on('error', () => undefined);
      resetSocket(client);
      return;
    }
    this.#tally.accepted++;
    const connection = new ProxiedConnection(client, {
      host: this.#target.hostname.replace(/^\[|\]$/g, ''),
      port: this.#targetPort,
      delayMs: (direction) => this.#draw(this.#conditions[direction]),
      watch: this.#thief?.watch(),
      onBytes: (direction, count) => {
        this.#tally[direction === 'toServer' ? 'bytesToServer' : 'bytesToClient'] += count;
      },
      onReset: () => {
        this.#tally.resets++;
      },
      onClosed: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    if (this.#endPartition !== undefined) connection.hold();
  }

  #draw({ latencyMs, jitterMs = 0 }: Delay): Milliseconds {
    return jitterMs === 0 ? latencyMs : latencyMs + (2 * this.#random() - 1) * jitterMs;
  }
}

function portOf(target: URL): number {
  const port = target.port === '' ? DEFAULT_PORTS[target.protocol] : Number(target.port);
  if (port === undefined) throw new Error(`${target.protocol}//${target.host} names no port`);
  return port;
}

function checkDelay({ latencyMs, jitterMs = 0 }: Delay): void {
  if (!(latencyMs >= 0 && jitterMs >= 0 && jitterMs <= latencyMs)) {
    throw new Error(
      `a delay of ${latencyMs} ms with a jitter of ${jitterMs} ms: it must be 0 <= jitter <= latency`,
    );
  }
}
