import type { RedisClient } from '@weir/patterns';
import type { Worker } from '../../fleet/fleet.js';
import { type TypedWorker, typedWorker } from '../../fleet/typed-worker.js';
import { beginMachineWindow, type MachineLoad } from '../../measure/machine-load.js';
import type { RedisFigures, Resources } from '../../measure/result.js';
import type { ClientLibrary } from '../../redis/clients.js';
import { difference, type RedisSnapshot, snapshot } from '../../redis/info.js';
import type {
  PointLoad,
  PointLoadApi,
  PointLoadReport,
  PointServiceApi,
  PointServiceSettings,
} from '../../workers/point-api.js';
import type { TrialContext } from '../experiment.js';
import { type SeenConnections, watchConnections } from './connection-watch.js';
import type { PointRequest } from './options.js';
import type { StrategyChoice } from './strategy-choice.js';

/** What stands on the stage: apps of ours with a strategy, or one of the user's. */
export type Cast =
  | {
      readonly state: 'ours';
      readonly choice: StrategyChoice;
      readonly client: ClientLibrary;
      readonly apps: number;
    }
  | { readonly state: 'given'; readonly url: string };

export interface StageSettings {
  readonly cast: Cast;
  readonly request: PointRequest;
  readonly entries: number;
  readonly hitRate: number;
  readonly users: number;
  readonly producers: number;
  readonly keyPrefix: string;
}

/** What one window of load brought home. */
export interface Window {
  readonly reports: readonly PointLoadReport[];
  readonly producerResources: readonly Resources[];
  /** None of an app of the user. */
  readonly appResources: readonly Resources[];
  readonly redis: RedisFigures;
  readonly seen: SeenConnections;
  /** Lookups that Redis found and did not find (INFO stats). */
  readonly keyspace: { readonly hits: number; readonly misses: number };
  /** Times the server read from its sockets (INFO `total_reads_processed`, Redis 6 on); undefined before. */
  readonly reads: number | undefined;
  /** From the first look at Redis to the second. */
  readonly seconds: number;
  readonly machine: MachineLoad;
}

/** The processes of one trial: apps, and load on them. */
export interface Stage {
  /** Load without figures of anything but its answers. */
  load(load: PointLoad): Promise<PointLoadReport[]>;
  /** Load, and what everybody used meanwhile. */
  measure(load: PointLoad, monitor: RedisClient): Promise<Window>;
  close(): Promise<void>;
}

/** Starts the apps and the processes that make load. Ends what it started when one of them cannot be. */
export async function openStage(settings: StageSettings, context: TrialContext): Promise<Stage> {
  const { cast, request, users, producers } = settings;
  const workers: Worker[] = [];
  const close = async (): Promise<void> => {
    context.signal.removeEventListener('abort', kill);
    await Promise.all(workers.map((worker) => worker.stop()));
  };
  const kill = (): void => {
    for (const worker of workers) worker.kill('SIGKILL');
  };
  context.signal.addEventListener('abort', kill, { once: true });
  const start = async (module: string, role: string, index: number): Promise<Worker> => {
    const worker = await context.fleet.start({ module, role, index });
    workers.push(worker);
    return worker;
  };
  try {
    const apps: TypedWorker<PointServiceApi>[] = [];
    const urls: string[] = [];
    for (let index = 0; cast.state === 'ours' && index < cast.apps; index++) {
      const app = typedWorker<PointServiceApi>(await start('point-service', 'app', index));
      apps.push(app);
      urls.push(await app.call('prepare', appSettings(settings, cast, context, index)));
    }
    if (cast.state === 'given') urls.push(cast.url);
    const loads: TypedWorker<PointLoadApi>[] = [];
    for (let index = 0; index < producers; index++) {
      const load = typedWorker<PointLoadApi>(await start('point-load', 'producer', index));
      loads.push(load);
      await load.call('prepare', { urls, path: `/${request}`, users: shareOf(users, index, producers) });
    }
    passProgress(loads, context);
    const load = (wanted: PointLoad): Promise<PointLoadReport[]> =>
      Promise.all(loads.map((each) => each.call('run', shareOfLoad(wanted, producers))));
    return { load, measure: (wanted, monitor) => measure(() => load(wanted), loads, apps, monitor), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function measure(
  load: () => Promise<PointLoadReport[]>,
  loads: readonly TypedWorker<PointLoadApi>[],
  apps: readonly TypedWorker<PointServiceApi>[],
  monitor: RedisClient,
): Promise<Window> {
  const endMachine = await beginMachineWindow();
  const before = await snapshot(monitor);
  const endWatch = watchConnections(monitor);
  await Promise.all([...loads, ...apps].map((worker) => worker.call('beginWindow', undefined)));
  const reports = await load();
  const [producerResources, appResources] = await Promise.all(
    [loads, apps].map((workers) => Promise.all(workers.map((worker) => worker.call('endWindow', undefined)))),
  );
  const seen = await endWatch();
  const after = await snapshot(monitor);
  return {
    reports,
    producerResources: producerResources ?? [],
    appResources: appResources ?? [],
    redis: difference(before, after),
    seen,
    keyspace: {
      hits: grown(before, after, 'keyspace_hits'),
      misses: grown(before, after, 'keyspace_misses'),
    },
    reads: after.info.has('total_reads_processed')
      ? grown(before, after, 'total_reads_processed')
      : undefined,
    seconds: (after.takenAtMs - before.takenAtMs) / 1000,
    machine: await endMachine(),
  };
}

function appSettings(
  { entries, hitRate, keyPrefix }: StageSettings,
  { choice, client }: Cast & { state: 'ours' },
  { redis, seed }: TrialContext,
  index: number,
): PointServiceSettings {
  const { strategy, poolSize, test, autoPipelining } = choice;
  return {
    ...{ strategy: strategy.name, poolSize, test, autoPipelining },
    ...{ client, url: redis.url, keyPrefix, entries, hitRate },
    // Every app draws other ids, and the same ones in every trial.
    seed: seed + index,
  };
}

function passProgress(loads: readonly TypedWorker<PointLoadApi>[], { progress }: TrialContext): void {
  const answered = loads.map(() => 0);
  let beganAt = performance.now();
  for (const [index, { worker }] of loads.entries()) {
    worker.on('answered', (count) => {
      if (typeof count !== 'number') return;
      // The warm-up is over and the count begins again.
      if (count < (answered[index] ?? 0)) beganAt = performance.now();
      answered[index] = count;
      const handled = answered.reduce((sum, each) => sum + each, 0);
      progress({ handled, perSecond: (handled * 1000) / Math.max(1, performance.now() - beganAt) });
    });
  }
}

function shareOf(count: number, index: number, parts: number): number {
  return Math.floor(count / parts) + (index < count % parts ? 1 : 0);
}

function shareOfLoad(load: PointLoad, producers: number): PointLoad {
  return load.mode === 'closed' ? load : { ...load, perSecond: load.perSecond / producers };
}

function grown(before: RedisSnapshot, after: RedisSnapshot, field: string): number {
  return Number(after.info.get(field) ?? 0) - Number(before.info.get(field) ?? 0);
}
