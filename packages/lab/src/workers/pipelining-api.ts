import type { Nanoseconds } from '../core/units.js';
import type { Resources } from '../measure/result.js';
import type { ClientLibrary } from '../redis/clients.js';
import type { WorkerApi } from './worker-channel.js';

/** The client of a pipelining trial, in a process of its own. Emits `done` (operations so far) as it works. */
export interface PipeliningClientApi extends WorkerApi {
  /** Connects. Called once, first. */
  readonly prepare: (settings: PipeliningSettings) => Promise<void>;
  /** Round trip of PING, one at a time: the median of `count`. */
  readonly ping: (parameters: { readonly count: number }) => Promise<Nanoseconds>;
  readonly warmUp: (parameters: { readonly forMs: number }) => Promise<WarmUpReport>;
  readonly run: (load: PipeliningLoad) => Promise<PipeliningReport>;
  /** The published experiment: every operation once, cold, one by one and then in one pipeline. */
  readonly replay: (parameters: { readonly operations: number }) => Promise<ReplayReport>;
  readonly beginWindow: (parameters: undefined) => void;
  readonly endWindow: (parameters: undefined) => Resources;
}

export const COMMANDS = ['set', 'get', 'incr', 'xadd'] as const;
export type Command = (typeof COMMANDS)[number];

export const METHODS = [
  'sequential',
  'pipeline',
  'auto-pipelining',
  'promise-all',
  'multi',
  'lua',
  'mset',
] as const;
export type Method = (typeof METHODS)[number];

export interface PipeliningSettings {
  readonly client: ClientLibrary;
  /** Of Redis, or of the proxy before it. */
  readonly url: string;
  readonly method: Method;
  readonly command: Command;
  /** Operations between two waits for the network. */
  readonly depth: number;
  /** Different keys, used in the same order by every variant. */
  readonly operations: number;
  readonly valueBytes: number;
  readonly keyPrefix: string;
}

export interface PipeliningLoad {
  /** The operations are gone through again and again until this much time has passed. */
  readonly leastMs: number;
  /** Ends within a pass when it has passed. */
  readonly mostMs: number;
}

export interface PipeliningReport {
  readonly attempted: number;
  readonly ok: number;
  readonly failed: number;
  readonly unknown: number;
  /** Answers that were not what the command must answer; `ok` counts them too. */
  readonly wrong: number;
  /** Waits for the network. */
  readonly rounds: number;
  readonly elapsedNs: Nanoseconds;
  /** Operations per second in each half of the time; absent for a single round. */
  readonly halves?: readonly [number, number];
  readonly errors: readonly string[];
}

export interface WarmUpReport {
  /** Operations in each fifth of the time. */
  readonly fifths: readonly number[];
  readonly seconds: number;
}

export interface ReplayReport {
  readonly plainNs: Nanoseconds;
  readonly pipelineNs: Nanoseconds;
}
