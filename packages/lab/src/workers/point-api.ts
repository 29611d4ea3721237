import type { Nanoseconds } from '../core/units.js';
import type { ScheduleReport } from '../measure/pacer.js';
import type { Histogram, Resources } from '../measure/result.js';
import type { ClientLibrary } from '../redis/clients.js';
import type { StrategyOptions } from '../services/strategies/strategy.js';
import type { WorkerApi } from './worker-channel.js';

/** What the workers of a connections trial offer: the web app, and the load on it. */

/** `weir serve point` in a process of its own. */
export interface PointServiceApi extends WorkerApi {
  /** Opens the connections of the strategy and listens; answers where. Called once, first. */
  readonly prepare: (settings: PointServiceSettings) => Promise<string>;
  readonly beginWindow: (parameters: undefined) => void;
  readonly endWindow: (parameters: undefined) => Resources;
}

export interface PointServiceSettings extends StrategyOptions {
  readonly strategy: string;
  readonly client: ClientLibrary;
  readonly url: string;
  readonly keyPrefix: string;
  readonly entries: number;
  readonly hitRate: number;
  readonly autoPipelining: boolean;
  /** Of the ids this process draws. */
  readonly seed: number;
}

/** The load generator, in a process of its own. */
export interface PointLoadApi extends WorkerApi {
  readonly prepare: (settings: PointLoadSettings) => void;
  /** Makes load until the time is up, and waits for every answer. Emits `answered` with the answers so far. */
  readonly run: (load: PointLoad) => Promise<PointLoadReport>;
  readonly beginWindow: (parameters: undefined) => void;
  readonly endWindow: (parameters: undefined) => Resources;
}

export interface PointLoadSettings {
  /** Each asked by its share of the connections. */
  readonly urls: readonly string[];
  readonly path: string;
  /** Keep-alive connections, one request at a time on each: in a closed load the users. */
  readonly users: number;
}

/** Closed: each user asks again when it is answered. Open: requests leave by a schedule, answered or not. */
export type PointLoad =
  | { readonly mode: 'closed'; readonly forMs: number }
  | { readonly mode: 'open'; readonly forMs: number; readonly perSecond: number };

export interface PointLoadReport {
  /** Requests sent. Each was answered, or its connection broke or kept silent. */
  readonly attempted: number;
  /** Answered with 2xx. */
  readonly succeeded: number;
  /** Answered with anything else. */
  readonly refused: number;
  /** Answers by status, for messages. */
  readonly statuses: Readonly<Record<string, number>>;
  /**
   * Answers with 2xx in each tenth of the window. It begins when every user has been answered once, because connecting is
   * no part of the work, and ends when no more is sent.
   */
  readonly tenths: readonly number[];
  readonly windowNs: Nanoseconds;
  /** Of the answers in the window: closed, from the request to its answer; open, from the intended time. */
  readonly latency: Histogram;
  /** Open load: from the time the request was handed to a connection or queued for one. */
  readonly service?: Histogram;
  /** Open load: how well the schedule was kept. */
  readonly schedule?: ScheduleReport;
}

export const TENTHS = 10;
