/**
 * The lab as a library: plan a run, make it, store it, report it, without the command line.
 *
 *     const experiment = (await loadExperiments()).get('messaging');
 *     const options = await experiment.parse({ messages: '5000' }, { precision: 'quick', temporaryFolder });
 *     const plan = makePlan(experiment, options, { rounds: 8, precision: 'quick', seed: 7, margin: 0.03, command: '' });
 *     const runner = new Runner({ experiment, options, plan, redis: {}, fleet: localFleet(), temporaryFolder });
 *     const result = await runner.run(AbortSignal.timeout(600_000));
 *
 * Nothing here prints or exits: functions return data, `Runner` emits {@link RunnerEvents}, and what cannot be done
 * is a {@link WeirError} with a stable code and a remedy.
 */

// What every part refuses or fails with.
export { ExitCode, WeirError, type WeirErrorCode } from './core/errors.js';
// From a question to a result.
export type {
  CommonOptions,
  Experiment,
  Factor,
  OptionDefinition,
  RawOptions,
  TrialContext,
} from './experiments/experiment.js';
export { loadExperiments } from './experiments/load-experiments.js';
export type { Fleet, Worker, WorkerSpecification } from './fleet/fleet.js';
export { localFleet } from './fleet/local-fleet.js';
// A result: its types, its schema (zod) and the JSON Schema that ships as `weir/result.schema.json`.
export {
  type Comparison,
  type CompletedTrial,
  type Environment,
  type Estimate,
  type Factors,
  type Histogram,
  type Interval,
  type Ledger,
  type NoiseFloor,
  type Plan,
  type Quantity,
  RESULT_SCHEMA_ID,
  type RedisFigures,
  type Resources,
  Result,
  resultJsonSchema,
  type Summary,
  type Trial,
  type Validity,
  type Variant,
  type VariantSummary,
  type Verdict,
} from './measure/result.js';
// The statistics behind the verdicts, usable on any figures.
export * from './measure/statistics.js';
export * from './measure/wilcoxon.js';
// A real server for tests and measurements of your own.
export {
  type RedisServer,
  type RedisServerOptions,
  type ServerExit,
  startRedisServer,
} from './redis/redis-server.js';

// From a result to documents, now or later.
export { loadReporters } from './reporters/load-reporters.js';
export type { Reporter, ReportOptions } from './reporters/reporter.js';
export {
  type BegunRun,
  DEFAULT_RESULTS,
  openResultsStore,
  type ResultsStore,
  type StoredRun,
} from './results/results-store.js';
export type { RunnerEvents } from './runner/events.js';
export { estimateMs, makePlan, type PlanSettings, ROUNDS } from './runner/plan.js';
export { Runner, type RunSettings } from './runner/runner.js';
