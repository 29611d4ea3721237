import type {
  CompletedTrial,
  Guarantee,
  Histogram,
  Ledger,
  Quantity,
  RedisFigures,
  Resources,
} from './result.js';

export interface MetricDefinition {
  readonly name: string;
  readonly unit: string;
  readonly better: 'higher' | 'lower' | 'neither';
  /** Compared between variants, with a verdict. */
  readonly compared: boolean;
  readonly description: string;
  /**
   * How a ratio of it is said between candidate and baseline: `handles {ratio} times as many messages per second as`.
   * Default: `has {ratio} times the <name> of`.
   */
  readonly comparison?: string;
}

/** What a trial found out, before any judgement. */
export interface Measurement {
  readonly metrics: Record<string, Quantity>;
  readonly histograms: Record<string, Histogram>;
  readonly ledger: Ledger;
  readonly resources: Record<string, Resources>;
  readonly redis: RedisFigures;
  readonly limitedBy: CompletedTrial['limitedBy'];
  /** Only of a trial with a fault. */
  readonly guarantee?: Guarantee | undefined;
  /** Facts for the checks that no other field holds. */
  readonly observations: Observations;
}

/** All optional: a check looks at what it knows and passes over what is not there. */
export interface Observations {
  /** Something was made to fail, so operations that fail say nothing against the trial. */
  readonly faultInjected?: boolean;
  /** Keys that existed before the trial. */
  readonly keysAtStart?: readonly string[];
  /** Left in Redis after drain and grace (unread + pending). */
  readonly leftAfterDrain?: number;
  readonly drainDeadlinePassed?: boolean;
  /** Did the warm-up settle; spread of its last five windows (coefficient of variation). */
  readonly warmUp?: { readonly settled: boolean; readonly variation: number; readonly seconds: number };
  /** Handling rate of each half of the measured window, messages per second. */
  readonly halves?: readonly [number, number];
  /** Open loop: sends, those late by more than the allowance, and the worst lateness. */
  readonly schedule?: {
    readonly sends: number;
    readonly late: number;
    readonly allowanceNs: number;
    readonly worstNs: number;
  };
  /** Declared against observed: what the plan says of the mechanism and what INFO and the counters say. */
  readonly declared?: readonly {
    readonly what: string;
    readonly declared: number;
    readonly observed: number;
    /** Allowed relative difference. */
    readonly tolerance: number;
  }[];
  /** Server-side counts that must agree with the ledger. */
  readonly serverCounts?: readonly {
    readonly what: string;
    readonly ledger: number;
    readonly server: number;
    /** `exact`, or `at-least` when retries may add. */
    readonly relation: 'exact' | 'at-least';
  }[];
  /** Closed loop: messages held in flight, what was handled per second, and the mean time a message took. */
  readonly closedLoop?: {
    readonly inFlight: number;
    readonly perSecond: number;
    readonly meanLatencyNs: number;
  };
  readonly measuredSeconds?: number;
  /** Seconds the mechanism under test needs to show itself: several fsyncs, a snapshot. */
  readonly secondsNeeded?: number;
  readonly latencySamples?: number;
  /** Percentile the report prints that needs the most samples: 0.99. */
  readonly reportedPercentile?: number;
  /** True when the load is open (paced), so a busy generator limits nothing but the schedule. */
  readonly paced?: boolean;
  /** Server identity and machine before and after. */
  readonly serverRunId?: readonly [string, string];
  readonly configChanged?: readonly string[];
  /** Share of CPU time stolen by the hypervisor and used by others during the window. */
  readonly stealShare?: number;
  readonly otherCpu?: number;
}
