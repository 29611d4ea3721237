import type { MessagingPattern, RedisClient } from '@weir/patterns';
import type { Milliseconds } from '../core/units.js';
import type { TcpProxy } from './tcp-proxy.js';

/**
 * The contract of a fault: one way in which a service, its network or its Redis goes wrong. One file per fault; the file
 * name is the fault's name, and whatever lies in this folder is offered by `weir run faults`. `none.ts` is the template
 * and the control.
 *
 * Every fault strikes at a message, not at a time: a consumer (or the producer) stops at the {@link CrashPoint} of one
 * message that the seed has chosen, the fault is carried out, and the consumer goes on. So all patterns meet the same
 * fault at the same message.
 */
export interface Fault {
  /** Registered name; equals the file name. */
  readonly name: string;
  /** What happens, in one sentence for the legend of the report. */
  readonly summary: string;
  /** What is taken away. A pattern's promise is a matter of this, never of the name. */
  readonly kind: FaultKind;
  /** Where it can strike; the first is the default. Empty: it is not one event, it lies in the handler. */
  readonly points: readonly CrashPoint[];
  /** What the handler does wrong. Default: nothing. */
  readonly handler?: HandlerFault;
  /** How Redis persists while this is tried; each is a trial of its own. Default: `none` alone. */
  readonly persistence?: readonly Persistence[];
  /** It ends, restarts or reconfigures Redis, so it is only for a server that weir started. Default false. */
  readonly needsOwnServer?: boolean;
  /** A replica follows the server. Default false. */
  readonly needsReplica?: boolean;
  /** Bytes of a body, where small ones would not show it. Default: as the workload says. */
  readonly payloadBytes?: number;
  /** How many times something is taken away; what may be repeated or lost is multiplied by it. Default 1. */
  readonly strikes?: number;
  /** Takes too long for the whole matrix: tried only when it is asked for. Default false. */
  readonly onlyByName?: boolean;
  /** Consumers where they compete; one is enough where nobody has to take over. Default 1. */
  readonly consumers?: number;
  /** Which patterns it can happen to. Default: all. */
  readonly appliesTo?: (pattern: Pick<MessagingPattern, 'capabilities' | 'commands'>) => boolean;
  /** Carries it out; resolves when it is over. The held consumer goes on then, or when `release` says so. */
  strike?(stage: FaultStage): Promise<void>;
}

/**
 * - `none`: nothing is taken away.
 * - `handler`: the handler refuses messages.
 * - `consumer`: the process of a consumer ends without a word, or is away for longer than its lease.
 * - `shutdown`: the process is asked to end.
 * - `connection`: connections break, or a reply is lost with one.
 * - `partition`: nothing passes, and the connections stay open.
 * - `delay`: everything takes longer; nothing is lost on the way.
 * - `dependency`: what the handler writes to is away.
 * - `overload`: messages come faster than they are handled.
 * - `trim`: entries are removed from under their readers.
 * - `redis-process`: Redis ends and comes back with what it had persisted.
 * - `redis-data`: Redis loses data whatever it persists.
 */
export type FaultKind =
  | 'none'
  | 'handler'
  | 'consumer'
  | 'shutdown'
  | 'connection'
  | 'partition'
  | 'delay'
  | 'dependency'
  | 'overload'
  | 'trim'
  | 'redis-process'
  | 'redis-data';

/**
 * Named moments in the life of a message.
 *
 * ```
 * producer                 consumer
 * write ──▶ answered       read ──▶ handler called ──▶ effects stored ──▶ acknowledged
 *       ▲                                          ▲                  ▲
 *   mid-pipeline                              after-read        after-handling
 * ```
 * `while-draining` is `after-read` of a consumer that has been told to stop and is working off the rest.
 */
export const CRASH_POINTS = ['after-read', 'after-handling', 'while-draining', 'mid-pipeline'] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** `appendonly` and `appendfsync` of the server: `none` is without an append-only file. */
export const PERSISTENCE = ['none', 'everysec', 'always'] as const;
export type Persistence = (typeof PERSISTENCE)[number];

/** `throws-once`: the first attempt at every nth message fails. `poison`: every attempt at one message fails. */
export type HandlerFault = 'throws-once' | 'poison';

/** What a fault may do things to. */
export interface FaultStage {
  /** Between Redis and all producers and consumers. */
  readonly proxy: TcpProxy;
  /** Straight to Redis, past the proxy. */
  readonly redis: RedisClient;
  /** Key, stream or channel of the trial. */
  readonly key: string;
  /** Commands the pattern sends and receives with, upper case. */
  readonly commands: { readonly send: readonly string[]; readonly receive: readonly string[] };
  readonly settings: FaultSettings;
  /** The consumer that stands at the message. */
  readonly consumer: StruckConsumer;
  /** Only with {@link Fault.needsOwnServer}. */
  readonly server: StruckServer;
  /** Lets the held consumer go on already, so that it meets what is still to come. */
  release(): void;
  /** Waits until the producer has an answer, or none in time, for everything the load sends. */
  loadSent(): Promise<void>;
}

export interface FaultSettings {
  /** How long an outage lasts: partition, delay, database. */
  readonly outageMs: Milliseconds;
  /** Of the consumers. */
  readonly leaseMs: Milliseconds;
}

export interface StruckConsumer {
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM'): void;
  /** Resolves when its process is gone. */
  readonly exited: Promise<unknown>;
  /** Starts a process of the same name in its place. */
  restart(): Promise<void>;
  /** Its database answers nothing until `false`. */
  setStoreDown(isDown: boolean): Promise<void>;
  /** Keeps its event loop busy, so that it reads no socket. */
  block(forMs: Milliseconds): void;
}

export interface StruckServer {
  /** In order (SIGTERM), and back again with what it persisted. */
  restart(): Promise<void>;
  /** SIGKILL, and back again. */
  crash(): Promise<void>;
  /** Kills it and promotes its replica, to which the proxy leads from then on. Only with {@link Fault.needsReplica}. */
  failOver(): Promise<void>;
}
