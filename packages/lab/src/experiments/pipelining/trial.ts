import { roundTrip, startTcpProxy, type TcpProxy } from '../../faults/tcp-proxy.js';
import { type TypedWorker, typedWorker } from '../../fleet/typed-worker.js';
import { beginMachineWindow, type MachineLoad } from '../../measure/machine-load.js';
import type { Measurement } from '../../measure/measurement.js';
import type { Factors, RedisFigures, Resources } from '../../measure/result.js';
import { connectClient } from '../../redis/clients.js';
import { difference, type RedisSnapshot, snapshot } from '../../redis/info.js';
import type { ConnectedClient } from '../../redis/libraries/library.js';
import {
  METHODS,
  type PipeliningClientApi,
  type PipeliningReport,
  type PipeliningSettings,
  type WarmUpReport,
} from '../../workers/pipelining-api.js';
import type { TrialContext } from '../experiment.js';
import { measurementOf } from './measurement.js';
import type { PipeliningOptions } from './options.js';
import { checkState, databaseSize, fillFor, keysOf, removeKeys, type StateCheck } from './state.js';

/** Enough for a median; over a long round trip fewer, because each takes one. */
const PINGS = 200;
const PINGS_FOR_MS = 200;

/** Everything a trial brought home, for {@link measurementOf}. */
export interface TrialRecord {
  readonly options: PipeliningOptions;
  readonly settings: PipeliningSettings;
  readonly managed: boolean;
  readonly keysAtStart: readonly string[];
  readonly pingNs: number;
  readonly warmUp: WarmUpReport;
  readonly report: PipeliningReport;
  readonly resources: Resources;
  readonly redis: RedisFigures;
  /** Times the server read from its sockets (INFO `total_reads_processed`, Redis 6 on); undefined before. */
  readonly reads: number | undefined;
  readonly machine: MachineLoad;
  readonly newKeys: number;
  readonly state: StateCheck;
}

/** Makes one trial: a fresh process, empty keys, warm-up, measured window, a look at what Redis holds. */
export async function pipeliningTrial(
  factors: Factors,
  options: PipeliningOptions,
  context: TrialContext,
): Promise<Measurement> {
  return withClient(factors, options, context, async ({ monitor, worker, settings }) => {
    const { client: redis } = monitor;
    const existing = await redis.sendMany(keysOf(options).map((key) => ['EXISTS', key]));
    const keysAtStart = keysOf(options).filter((_, index) => {
      const outcome = existing[index];
      return outcome?.state === 'ok' && outcome.reply !== 0;
    });
    await fillFor(redis, options);
    const roundTripMs = Number(factors.rtt);
    const count = Math.max(5, Math.min(PINGS, Math.round(PINGS_FOR_MS / Math.max(roundTripMs, 0.1))));
    const pingNs = await worker.call('ping', { count });
    const warmUp = await worker.call('warmUp', { forMs: options.time.warmUpMs });
    // The warm-up wrote on the same keys; the measured operations start from nothing, as the first did.
    if (options.command !== 'get') await removeKeys(redis, options);
    const sizeBefore = await databaseSize(redis);

    const endMachine = await beginMachineWindow();
    const before = await snapshot(redis);
    await worker.call('beginWindow', undefined);
    const report = await worker.call('run', options.time);
    const resources = await worker.call('endWindow', undefined);
    const after = await snapshot(redis);
    const machine = await endMachine();
    context.signal.throwIfAborted();

    const newKeys = (await databaseSize(redis)) - sizeBefore;
    const state = await checkState(redis, options, report.ok, context.seed);
    return measurementOf({
      ...{
        options,
        settings,
        managed: context.redis.managed,
        keysAtStart,
        pingNs,
        warmUp,
        report,
        resources,
      },
      ...{ redis: difference(before, after), reads: readsBetween(before, after), machine, newKeys, state },
    });
  });
}

export interface OpenTrial {
  /** Straight to Redis, past the proxy. */
  readonly monitor: ConnectedClient;
  readonly worker: TypedWorker<PipeliningClientApi>;
  readonly settings: PipeliningSettings;
}

/** Opens what a trial needs, and leaves nothing of it behind. */
export async function withClient<T>(
  factors: Factors,
  options: PipeliningOptions,
  { redis, fleet, signal, progress }: TrialContext,
  work: (open: OpenTrial) => Promise<T>,
): Promise<T> {
  const client = options.clients.find((name) => name === factors.client);
  const method = METHODS.find((name) => name === factors.method);
  if (client === undefined || method === undefined)
    throw new Error('the plan has a factor that was not asked for');
  // Which library watches makes no difference to what is watched.
  const monitor = await connectClient('node-redis', redis.url, { name: 'weir-monitor' });
  let proxy: TcpProxy | undefined;
  let stop = async (): Promise<void> => undefined;
  try {
    if (options.roundTripsMs !== undefined) {
      const conditions = roundTrip(Number(factors.rtt));
      proxy = await startTcpProxy({ target: redis.url, protocol: 'opaque', conditions });
    }
    const { command, operations, valueBytes, keyPrefix } = options;
    const settings: PipeliningSettings = {
      ...{ client, method, command, operations, valueBytes, keyPrefix },
      url: proxy?.url ?? redis.url,
      depth: Number(factors.depth),
    };
    const started = await fleet.start({ module: 'pipelining-client', role: 'client', index: 0 });
    const aborted = (): void => started.kill('SIGKILL');
    signal.addEventListener('abort', aborted, { once: true });
    stop = async () => {
      signal.removeEventListener('abort', aborted);
      await started.stop();
    };
    started.on('done', (done) => {
      if (typeof done === 'number') progress({ handled: done, perSecond: 0 });
    });
    const worker = typedWorker<PipeliningClientApi>(started);
    await worker.call('prepare', settings);
    return await work({ monitor, worker, settings });
  } finally {
    await stop();
    await proxy?.close();
    await removeKeys(monitor.client, options).finally(() => monitor.close());
  }
}

function readsBetween(before: RedisSnapshot, after: RedisSnapshot): number | undefined {
  const field = 'total_reads_processed';
  const [from, to] = [before.info.get(field), after.info.get(field)];
  return from === undefined || to === undefined ? undefined : Number(to) - Number(from);
}
