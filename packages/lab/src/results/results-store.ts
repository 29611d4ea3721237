import type { Compilable } from 'kysely';
import { WeirError } from '../core/errors.js';
import { Environment, Plan, RESULT_SCHEMA_ID, Result, type Summary, Trial } from '../measure/result.js';
import { openDatabase } from '../stores/sql/databases/open-database.js';
import type { SqlDatabase } from '../stores/sql/databases/sql-database.js';
import { type ResultTables, type RunRow, resultMigrations } from './migrations/results.js';

/** Where results go when nobody says otherwise, relative to the working directory. */
export const DEFAULT_RESULTS = 'sqlite:.weir/results.db';

/** What is known of a run before its first trial. */
export type BegunRun = Pick<Result, 'id' | 'experiment' | 'startedAt' | 'plan' | 'environment'>;

/** A run in the list. */
export interface StoredRun {
  readonly id: string;
  readonly experiment: string;
  readonly startedAt: string;
  readonly status: Result['status'];
  /** Trials stored, whatever their state. */
  readonly trials: number;
}

/**
 * Keeps results. A run is written as it goes, trial by trial: what a crash leaves behind is a run that was begun
 * and not finished, and reads as `interrupted` with the trials that were made.
 */
export interface ResultsStore {
  /** @throws {WeirError} CANNOT_WRITE or STORE_UNREACHABLE, as everything here */
  begin(run: BegunRun): Promise<void>;
  addTrial(runId: string, trial: Trial): Promise<void>;
  /** Writes the whole result in one transaction, over what was written while it ran; begun or not. */
  finish(result: Result): Promise<void>;
  /**
   * @param run id, beginning of one, or `latest`
   * @throws {WeirError} NO_SUCH_RUN: none or several, or one this version cannot read
   */
  get(run: string): Promise<Result>;
  /** Newest first. */
  list(): Promise<StoredRun[]>;
  /** @throws {WeirError} NO_SUCH_RUN */
  delete(run: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the results, making file, folder and tables when they are not there.
 * @throws {WeirError} USAGE or UNKNOWN_NAME for an address that is none, CANNOT_WRITE, STORE_UNREACHABLE
 */
export async function openResultsStore(address: string = DEFAULT_RESULTS): Promise<ResultsStore> {
  return resultsStore(await openDatabase('--results', address, resultMigrations));
}

function resultsStore({ kysely: database, where, runAll, close }: SqlDatabase<ResultTables>): ResultsStore {
  const insertRun = (run: BegunRun & Partial<Result>): Compilable =>
    database.insertInto('runs').values(rowOf(run));
  const deleteRun = (id: string): Compilable => database.deleteFrom('runs').where('id', '=', id);
  const insertTrial = (runId: string, trial: Trial): Compilable =>
    database.insertInto('trials').values({ run_id: runId, trial_id: trial.id, json: JSON.stringify(trial) });
  const deleteTrial = (runId: string, { id }: Trial): Compilable =>
    database.deleteFrom('trials').where('run_id', '=', runId).where('trial_id', '=', id);

  async function list(): Promise<StoredRun[]> {
    const rows = await database
      .selectFrom('runs')
      .leftJoin('trials', 'trials.run_id', 'runs.id')
      .select(['runs.id', 'experiment', 'started_at as startedAt', 'status'])
      .select(({ fn }) => fn.count<number | string>('trials.trial_id').as('trials'))
      .groupBy(['runs.id', 'experiment', 'started_at', 'status'])
      .orderBy('started_at', 'desc')
      .orderBy('runs.id', 'desc')
      .execute();
    return rows.map((row) => ({ ...row, status: statusOf(row.status), trials: Number(row.trials) }));
  }

  async function find(wanted: string): Promise<StoredRun> {
    const runs = await list();
    const exact = runs.find(({ id }) => id === wanted);
    const matching = wanted === 'latest' ? runs.slice(0, 1) : runs.filter(({ id }) => id.startsWith(wanted));
    const [first, ...others] = exact === undefined ? matching : [exact];
    if (first !== undefined && others.length === 0) return first;
    throw noSuchRun(wanted, where, runs, first === undefined ? [] : [first, ...others]);
  }

  return {
    begin: ({ id, experiment, startedAt, plan, environment }) =>
      runAll([insertRun({ id, experiment, startedAt, plan, environment })]),
    addTrial: (runId, trial) => runAll([deleteTrial(runId, trial), insertTrial(runId, trial)]),
    finish: (result) =>
      runAll([
        deleteRun(result.id),
        insertRun(result),
        ...result.trials.map((trial) => insertTrial(result.id, trial)),
      ]),
    get: async (wanted) => {
      const { id } = await find(wanted);
      const run = await database
        .selectFrom('runs')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow();
      const trials = await database.selectFrom('trials').select('json').where('run_id', '=', id).execute();
      return read(
        run,
        trials.map(({ json }) => json),
        where,
      );
    },
    list,
    delete: async (wanted) => {
      const { id } = await find(wanted);
      await runAll([deleteRun(id)]);
    },
    close,
  };
}

function rowOf(run: BegunRun & Partial<Result>): RunRow {
  const json = (part: object | undefined): string | null =>
    part === undefined ? null : JSON.stringify(part);
  return {
    id: run.id,
    experiment: run.experiment,
    started_at: run.startedAt,
    finished_at: run.finishedAt ?? null,
    status: run.status ?? null,
    summary: json(run.summary),
    validity: json(run.validity),
    error: run.error ?? null,
    plan: JSON.stringify(run.plan),
    environment: JSON.stringify(run.environment),
  };
}

/** Whatever another version or another program wrote is checked before anything believes it. */
function read(row: RunRow, trialTexts: readonly string[], where: string): Result {
  try {
    const trials = trialTexts
      .map((text) => Trial.parse(JSON.parse(text)))
      .sort((a, b) => a.round - b.round || a.position - b.position);
    return Result.parse({
      schema: RESULT_SCHEMA_ID,
      id: row.id,
      experiment: row.experiment,
      startedAt: row.started_at,
      finishedAt: row.finished_at ?? lastSignOfLife(row.started_at, trials),
      status: statusOf(row.status),
      ...(row.error === null ? {} : { error: row.error }),
      plan: Plan.parse(JSON.parse(row.plan)),
      environment: Environment.parse(JSON.parse(row.environment)),
      trials,
      summary: row.summary === null ? unfinished(trials.length) : JSON.parse(row.summary),
      validity: row.validity === null ? [] : JSON.parse(row.validity),
    });
  } catch (cause) {
    throw new WeirError(
      'NO_SUCH_RUN',
      `run ${row.id} in ${where} is not in a form this weir reads: ${cause}`,
      {
        cause,
        remedy: 'read it with the version of weir that wrote it',
      },
    );
  }
}

function statusOf(status: string | null): Result['status'] {
  return status === 'completed' || status === 'failed' ? status : 'interrupted';
}

/** When the last stored trial ended. */
function lastSignOfLife(startedAt: string, trials: readonly Trial[]): string {
  const ends = trials.map((trial) => Date.parse(trial.startedAt) + trial.durationMs);
  return new Date(Math.max(Date.parse(startedAt), ...ends)).toISOString();
}

function unfinished(trials: number): Summary {
  return {
    findings: [`The run ended before it could be summed up; ${trials} trials were stored.`],
    variants: [],
    noiseFloor: [],
    comparisons: [],
  };
}

const LISTED = 10;

function noSuchRun(
  wanted: string,
  where: string,
  runs: readonly StoredRun[],
  matching: readonly StoredRun[],
) {
  const message =
    matching.length === 0
      ? `there is no run ${JSON.stringify(wanted)} in ${where}`
      : `${JSON.stringify(wanted)} is the beginning of ${matching.length} runs in ${where}`;
  const choice = matching.length === 0 ? runs : matching;
  const ids = choice.slice(0, LISTED).map(({ id }) => id);
  const more = choice.length > LISTED ? ` and ${choice.length - LISTED} older ones` : '';
  return new WeirError('NO_SUCH_RUN', message, {
    remedy:
      ids.length === 0
        ? 'nothing is stored there yet: weir run messaging'
        : `stored: ${ids.join(', ')}${more}`,
  });
}
