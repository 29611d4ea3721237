import { randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import type { RedisClient } from '@weir/patterns';
import { WeirError } from '../core/errors.js';
import type { Experiment, TrialContext } from '../experiments/experiment.js';
import type { Fleet } from '../fleet/fleet.js';
import { describeEnvironment, environmentChanges } from '../measure/environment.js';
import type { MetricDefinition } from '../measure/measurement.js';
import { type Environment, type Plan, RESULT_SCHEMA_ID, type Result, type Trial } from '../measure/result.js';
import { connectClient } from '../redis/clients.js';
import { openRedisTarget, type RedisTarget, type RedisTargetOptions } from '../redis/connect.js';
import type { Check } from '../validity/check.js';
import { loadChecks } from '../validity/load-checks.js';
import type { RunnerEvents } from './events.js';
import { estimateMs, THOROUGH_FIRST_LOOK } from './plan.js';
import { runTrial } from './run-trial.js';
import { summarise } from './summary.js';
import { compareVariants } from './verdict.js';

export interface RunSettings<Options> {
  readonly experiment: Experiment<Options>;
  readonly options: Options;
  readonly plan: Plan;
  readonly redis: RedisTargetOptions;
  readonly fleet: Fleet;
  /** A folder that exists, may be written to, and is removed by the caller afterwards. */
  readonly temporaryFolder: string;
}

/** So many trials in a row that cannot be made end the run: the next one would not go better. */
const FAILURES_THAT_END_A_RUN = 3;

/**
 * Carries out a plan, trial by trial, and tells what happens through {@link RunnerEvents}. It prints nothing and
 * stores nothing; progress display and results store listen.
 */
export class Runner<Options> extends EventEmitter<RunnerEvents> {
  readonly #settings: RunSettings<Options>;
  readonly #runId: string;

  constructor(settings: RunSettings<Options>) {
    super();
    this.#settings = settings;
    this.#runId = newRunId();
  }

  get runId(): string {
    return this.#runId;
  }

  /**
   * @param signal aborted to end the run early: the trial under way is given up, the finished ones are kept
   * @returns the result; its status says whether the run was completed, interrupted, or failed on the way
   * @throws {WeirError} when nothing could be run: no server, or a key of somebody else's under our name
   */
  async run(signal: AbortSignal): Promise<Result> {
    const { experiment, options, plan, redis, fleet } = this.#settings;
    this.emit('planned', {
      runId: this.#runId,
      plan,
      estimateMs: estimateMs(plan, experiment.estimateTrialMs(options)),
    });
    await experiment.reach?.(options);
    const target = await openRedisTarget(redis);
    try {
      await refuseForeignKeys(target, experiment.keys(options));
      await withMonitor(target, async (client) => experiment.checkRedis?.(client, options));
      const environment = await environmentOf(target);
      const startedAt = new Date().toISOString();
      this.emit('started', { runId: this.#runId, environment, startedAt });
      const checks = await loadChecks();
      const outcome = await this.#runRounds(target, checks, signal);
      const changes = await environmentOf(target).then(
        (after) => environmentChanges(environment, after),
        () => [],
      );
      const judged = this.#resultOf({ environment, startedAt, ...outcome }, checks, changes);
      const result = await this.#withOwnFindings(judged, target, signal);
      this.emit('checked', { validity: result.validity });
      this.emit('finished', { result });
      return result;
    } finally {
      await fleet.close();
      await target.close();
    }
  }

  async #runRounds(
    target: RedisTarget,
    checks: ReadonlyMap<string, Check>,
    signal: AbortSignal,
  ): Promise<Pick<Result, 'trials' | 'status' | 'error'>> {
    const { experiment, options, plan, fleet, temporaryFolder } = this.#settings;
    const trials: Trial[] = [];
    const of = plan.order.reduce((sum, round) => sum + round.length, 0);
    let failuresInARow = 0;
    for (const [roundIndex, names] of plan.order.entries()) {
      for (const [positionIndex, name] of names.entries()) {
        if (signal.aborted) return { trials, status: 'interrupted' };
        const [round, position] = [roundIndex + 1, positionIndex + 1];
        this.emit('trial-started', { round, position, index: trials.length, of, variant: name });
        const context: TrialContext = {
          redis: target,
          fleet,
          seed: plan.seed,
          round,
          signal,
          temporaryFolder,
          progress: (live) => this.emit('trial-progress', { variant: name, ...live }),
        };
        const trial = await runTrial({ experiment, options, plan, checks, context, round, position, name });
        if (signal.aborted && trial.state === 'failed') return { trials, status: 'interrupted' };
        trials.push(trial);
        this.emit('trial-finished', { trial, index: trials.length - 1, of });
        failuresInARow = trial.state === 'failed' ? failuresInARow + 1 : 0;
        if (trial.state === 'failed') {
          const gone = await whyGone(target);
          if (gone !== undefined) return { trials, status: 'failed', error: gone };
          if (failuresInARow >= FAILURES_THAT_END_A_RUN)
            return { trials, status: 'failed', error: trial.error };
        }
      }
      if (this.#mayEndEarly(trials, roundIndex + 1)) break;
    }
    return { trials, status: 'completed' };
  }

  /** A thorough run looks at 20 rounds, and goes on to 30 only when something is still undecided. */
  #mayEndEarly(trials: readonly Trial[], rounds: number): boolean {
    const { plan, experiment, options } = this.#settings;
    if (plan.precision !== 'thorough' || rounds !== THOROUGH_FIRST_LOOK) return false;
    const { comparisons } = compareVariants({ plan, trials, metrics: experiment.metrics(options) });
    return comparisons.every(
      ({ verdict }) => verdict === 'faster' || verdict === 'slower' || verdict === 'tie',
    );
  }

  /** Adds what the experiment alone can say, and the published method beside it when that was asked for. */
  async #withOwnFindings(result: Result, target: RedisTarget, signal: AbortSignal): Promise<Result> {
    const { experiment, options, plan, fleet, temporaryFolder } = this.#settings;
    const { summary } = result;
    const remarks = experiment.remarks?.(summary, options, plan, result.trials) ?? [];
    const findings = experiment.judgedBy === 'guarantee' ? [...remarks] : [...summary.findings, ...remarks];
    const context: TrialContext = {
      redis: target,
      fleet,
      seed: plan.seed,
      round: plan.rounds,
      signal,
      temporaryFolder,
      progress: () => {},
    };
    const asPublished =
      result.status === 'completed'
        ? await experiment.replay?.({ plan, summary }, options, context)
        : undefined;
    const replayed = asPublished === undefined ? {} : { asPublished };
    return { ...result, summary: { ...summary, findings, ...replayed } };
  }

  #resultOf(
    run: Pick<Result, 'environment' | 'startedAt' | 'trials' | 'status' | 'error'>,
    checks: ReadonlyMap<string, Check>,
    changes: readonly string[],
  ): Result {
    const { experiment, options, plan } = this.#settings;
    const metrics: readonly MetricDefinition[] = experiment.metrics(options);
    const { error, ...rest } = run;
    const judged = { plan, trials: run.trials, metrics, counted: experiment.counted };
    const summary = summarise(judged);
    const unchecked: Omit<Result, 'validity'> = {
      schema: RESULT_SCHEMA_ID,
      id: this.#runId,
      experiment: experiment.name,
      finishedAt: new Date().toISOString(),
      plan,
      ...rest,
      ...(error === undefined ? {} : { error }),
      summary,
    };
    const findings = [...checks.values()].flatMap((check) => {
      const finding = check.run?.({ result: unchecked, metrics, environmentChanges: changes });
      return finding === undefined ? [] : [{ id: check.name, ...finding }];
    });
    const rankingRefused = findings
      .filter(({ status }) => status === 'fail')
      .map(({ id, evidence }) => `${id}: ${evidence}`)
      .join('; ');
    return {
      ...unchecked,
      summary: rankingRefused === '' ? summary : summarise({ ...judged, rankingRefused }),
      validity: findings,
    };
  }
}

/** Sorts by time and is short enough to type: `20261130-144500-3f9a`. */
function newRunId(): string {
  const [date = '', time = ''] = new Date().toISOString().split(/[T.]/);
  return `${date.replaceAll('-', '')}-${time.replaceAll(':', '')}-${randomBytes(2).toString('hex')}`;
}

function environmentOf(target: RedisTarget): Promise<Environment> {
  return withMonitor(target, (client) => describeEnvironment(client, target));
}

async function withMonitor<T>(target: RedisTarget, look: (client: RedisClient) => Promise<T>): Promise<T> {
  const monitor = await connectClient('node-redis', target.url, { name: 'weir-monitor' });
  try {
    return await look(monitor.client);
  } finally {
    await monitor.close();
  }
}

/** On a Redis that is not ours, a key under our name is somebody's: it is left alone and the run refused. */
async function refuseForeignKeys(target: RedisTarget, keys: readonly string[]): Promise<void> {
  if (target.managed) return;
  const monitor = await connectClient('node-redis', target.url, { name: 'weir-monitor' });
  try {
    for (const key of keys) {
      if ((await monitor.client.send(['EXISTS', key])) === 0) continue;
      throw new WeirError('FOREIGN_KEY', `${target.address} already holds a key ${JSON.stringify(key)}`, {
        remedy:
          'weir never deletes what it did not make: choose other names with --key-prefix, or remove the key yourself',
      });
    }
  } finally {
    await monitor.close();
  }
}

/** After a trial that could not be made: is the server still there? */
async function whyGone(target: RedisTarget): Promise<string | undefined> {
  try {
    const monitor = await connectClient('node-redis', target.url, { name: 'weir-monitor' });
    await monitor.close();
    return undefined;
  } catch (error) {
    return `Redis at ${target.address} is gone: ${error instanceof Error ? error.message : String(error)}`;
  }
}
