import type { RedisClient } from '@weir/patterns';
import type { Fleet } from '../fleet/fleet.js';
import type { Measurement, MetricDefinition } from '../measure/measurement.js';
import type { AsPublished, Factors, Plan, Summary, Trial } from '../measure/result.js';
import type { RedisTargetOptions } from '../redis/connect.js';
import type { ManagedOrGivenRedis } from '../redis/redis-target.js';

/**
 * The contract of an experiment: a question, the factors it varies, the workload it holds equal, its metrics, and
 * how one trial is made. It knows nothing of rounds, order, statistics or output: the runner does those, the same
 * way for every experiment.
 */
export interface Experiment<Options = unknown> {
  /** Registered name; equals the file name. */
  readonly name: string;
  readonly summary: string;
  /** The question it answers, as a sentence. */
  readonly question: string;
  /** Options beyond the common ones; the command line and its help are made from them. */
  readonly options: readonly OptionDefinition[];
  /**
   * Turns raw option values (strings, by camel-case name) into checked options.
   * @throws {WeirError} USAGE or UNKNOWN_NAME, naming option, value and what would be right
   */
  parse(raw: RawOptions, common: CommonOptions): Promise<Options> | Options;
  /** What varies, in order; the first factor with more than one value is the one that is compared. */
  factors(options: Options): readonly Factor[];
  /** Combinations of factors that make no sense are left out. Default: all are made. */
  applies?(factors: Factors, options: Options): boolean;
  /**
   * `comparison` (default): trials are samples, repeated in rounds and compared. `guarantee`: each trial either keeps what
   * was promised or does not; one round by default, no copies of the baseline, and exit 1 when a promise was broken.
   */
  readonly judgedBy?: 'comparison' | 'guarantee';
  /** What is held equal, for the report. */
  workload(options: Options): Readonly<Record<string, string | number | boolean | null>>;
  metrics(options: Options): readonly MetricDefinition[];
  /** What its ledger counts, for sentences. Default: messages, which are delivered. */
  readonly counted?: Counted;
  /** A rough time of one trial in milliseconds, for `weir plan` and the progress display. */
  estimateTrialMs(options: Options): number;
  /** Keys of the user's Redis this run will use: refused when one exists before the first trial. */
  keys(options: Options): readonly string[];
  /**
   * Makes sure, before anything is started, that what the options name can be reached.
   * @throws {WeirError} STORE_UNREACHABLE, CANNOT_WRITE or SERVICE_UNREACHABLE
   */
  reach?(options: Options): Promise<void>;
  /**
   * Looks at the Redis of the run before the first trial.
   * @throws {WeirError} when the run cannot be made on it: more connections than it takes
   */
  checkRedis?(client: RedisClient, options: Options): Promise<void>;
  /**
   * Makes one trial and leaves nothing of it behind, whatever happens. Throws when it cannot be made; anything that merely looks wrong is for the checks.
   */
  trial(factors: Factors, options: Options, context: TrialContext): Promise<Measurement>;
  /**
   * Findings that only this experiment knows how to word, after those that all comparisons have; the only ones where a
   * guarantee is judged.
   */
  remarks?(summary: Summary, options: Options, plan: Plan, trials: readonly Trial[]): readonly string[];
  /**
   * Replays the published experiment once, flaws and all, when the options ask for it, so that it can be shown beside
   * the honest result.
   */
  replay?(
    run: { readonly plan: Plan; readonly summary: Summary },
    options: Options,
    context: TrialContext,
  ): Promise<AsPublished | undefined>;
}

export interface Counted {
  /** `request` */
  readonly one: string;
  readonly many: string;
  /** What becomes of those that are not lost: `were answered`. */
  readonly fate: string;
}

export interface OptionDefinition {
  /** As on the command line: `--messages <count>`. */
  readonly flags: string;
  readonly description: string;
  readonly defaultText?: string;
}
export type RawOptions = Readonly<Record<string, string | boolean | undefined>>;

export interface CommonOptions {
  readonly precision: 'quick' | 'default' | 'thorough' | 'custom';
  /** A folder the run may write to and that is removed at its end. */
  readonly temporaryFolder: string;
  /** The Redis of the run, as the user asked for it: to refuse early what cannot be done with it. */
  readonly redis: RedisTargetOptions;
}

export interface Factor {
  readonly name: string;
  readonly values: readonly (string | number | boolean)[];
}

export interface TrialContext {
  readonly redis: ManagedOrGivenRedis;
  readonly fleet: Fleet;
  /** Of the plan: the same for every trial. */
  readonly seed: number;
  /** Of the trial, from 1. */
  readonly round: number;
  /** Aborted on Ctrl-C: the trial ends as soon as it can by throwing. */
  readonly signal: AbortSignal;
  readonly temporaryFolder: string;
  /** For the progress display: messages handled so far and the rate now. */
  progress(live: { readonly handled: number; readonly perSecond: number }): void;
}
