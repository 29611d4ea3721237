import { randomBytes } from 'node:crypto';
import type { MessagingPattern, PatternState, StopReport } from '@weir/patterns';
import type { Worker } from '../../fleet/fleet.js';
import { beginMachineWindow, type MachineLoad } from '../../measure/machine-load.js';
import type { Measurement, Observations } from '../../measure/measurement.js';
import type { Factors, RedisFigures, Resources } from '../../measure/result.js';
import { type ClientLibrary, connectClient } from '../../redis/clients.js';
import { difference, snapshot } from '../../redis/info.js';
import type { ConnectedClient } from '../../redis/libraries/library.js';
import { withStore } from '../../stores/load-stores.js';
import type {
  ConsumerReport,
  LoadEnd,
  MessagingConsumerApi,
  ProducerLoad,
  ProducerReport,
} from '../../workers/messaging-api.js';
import type { TrialContext } from '../experiment.js';
import { HandledBoard } from './handled-board.js';
import { startHttpWorkers } from './http-workers.js';
import { measurementOf } from './measurement.js';
import type { MessagingOptions } from './options.js';
import { startDirectWorkers, type TrialWorkers, type WorkerPlan } from './start-workers.js';
import { watchWarmUp } from './warm-up.js';

/** When nothing has been handled for this long, what is still missing will not come. */
const QUIET_MS = 2_000;
const NO_WARM_UP = { settled: false, variation: 1, seconds: 0 };

/** Everything a trial brought home, for {@link measurementOf}. */
export interface TrialRecord {
  readonly pattern: MessagingPattern;
  readonly batch: number;
  readonly options: MessagingOptions;
  readonly managed: boolean;
  readonly keysAtStart: readonly string[];
  readonly warmUp: NonNullable<Observations['warmUp']>;
  readonly warmUpSent: number;
  readonly sends: readonly ProducerReport[];
  readonly deliveries: readonly ConsumerReport[];
  readonly stops: readonly StopReport[];
  /** Of the producers and of what stands between them and Redis. */
  readonly producerResources: readonly Resources[];
  readonly consumerResources: readonly Resources[];
  readonly redis: RedisFigures;
  readonly machine: MachineLoad;
  readonly stateAfter: PatternState;
  readonly keyType: string;
  /** Rows in the store at the end; only in a store of this run. */
  readonly storedRows: number | undefined;
}

/** Makes one trial: fresh processes, empty keys, warm-up, measured window, drain, audit. */
export async function messagingTrial(
  factors: Factors,
  options: MessagingOptions,
  context: TrialContext,
): Promise<Measurement> {
  const trial = await MessagingTrial.open(factors, options, context);
  try {
    return measurementOf(options.mode === 'backlog' ? await trial.backlog() : await trial.flow());
  } finally {
    await trial.close();
  }
}

/** One trial and the processes it runs in. The methods are its steps. */
class MessagingTrial {
  readonly #pattern: MessagingPattern;
  readonly #batch: number;
  readonly #options: MessagingOptions;
  readonly #context: TrialContext;
  readonly #key: string;
  readonly #monitor: ConnectedClient;
  /** Sets the messages of this trial apart from those of all others, also in a store that is kept. */
  readonly #nonce = randomBytes(4).toString('hex');
  /** All that were started, so that all are ended. */
  readonly #started: Worker[] = [];
  #workers: TrialWorkers = { producers: [], consumers: [], between: [] };

  static async open(
    factors: Factors,
    options: MessagingOptions,
    context: TrialContext,
  ): Promise<MessagingTrial> {
    const library = clientOf(factors, options);
    // Not the library under test: what its connections leave behind would be counted in the next trial.
    const monitor = await connectClient('node-redis', context.redis.url, { name: 'weir-monitor' });
    const trial = new MessagingTrial(factors, options, context, monitor);
    try {
      await trial.#startWorkers(library);
    } catch (error) {
      await trial.close();
      throw error;
    }
    return trial;
  }

  private constructor(
    factors: Factors,
    options: MessagingOptions,
    context: TrialContext,
    monitor: ConnectedClient,
  ) {
    const pattern = options.patterns.find(({ name }) => name === factors.pattern);
    if (pattern === undefined)
      throw new Error(`the plan has a pattern that was not asked for: ${factors.pattern}`);
    this.#pattern = pattern;
    this.#batch = Number(factors.batch);
    this.#options = options;
    this.#context = context;
    this.#key = options.keyPrefix + pattern.defaultKey;
    this.#monitor = monitor;
  }

  /** Capacity and rate: producers and consumers work at the same time. */
  async flow(): Promise<TrialRecord> {
    const keysAtStart = await this.#prepareEmpty();
    const board = this.#watch();
    await this.#everyConsumer('start', { from: 'new' });
    const { warmUp, warmUpSent } = await this.#warmUp(board);

    const end = await this.#beginWindow();
    const sends = await this.#produce(board);
    const acknowledged = sends.reduce((sum, report) => sum + report.acknowledged, 0);
    await board.reached('measured', acknowledged, QUIET_MS, this.#context.signal);
    const window = await end();
    return { ...this.#base(keysAtStart), warmUp, warmUpSent, sends, ...window, ...(await this.#audit()) };
  }

  /** Backlog: everything is sent first; then the consumers start and only they are measured. */
  async backlog(): Promise<TrialRecord> {
    const keysAtStart = await this.#prepareEmpty();
    const board = this.#watch();
    await this.#everyConsumer('start', { from: 'new' });
    const { warmUp, warmUpSent } = await this.#warmUp(board);
    await this.#everyConsumer('stop', { drain: true, deadlineMs: this.#options.drainDeadlineMs });
    await this.#pattern.destroy(this.#monitor.client, { key: this.#key });

    const sends = await this.#produce(board);
    const acknowledged = sends.reduce((sum, report) => sum + report.acknowledged, 0);
    const end = await this.#beginWindow();
    await this.#everyConsumer('start', { from: 'beginning' });
    await board.reached('measured', acknowledged, QUIET_MS, this.#context.signal);
    const window = await end();
    return { ...this.#base(keysAtStart), warmUp, warmUpSent, sends, ...window, ...(await this.#audit()) };
  }

  /** Ends the processes and leaves nothing behind on Redis. */
  async close(): Promise<void> {
    await Promise.all(this.#started.map((worker) => worker.stop()));
    try {
      await this.#pattern.destroy(this.#monitor.client, { key: this.#key });
    } catch {
      // Redis is gone or refuses: the trial's own error says so, and a managed server is removed as a whole.
    } finally {
      await this.#monitor.close();
    }
  }

  async #startWorkers(client: ClientLibrary): Promise<void> {
    const { via } = this.#options;
    const plan: WorkerPlan = {
      pattern: this.#pattern.name,
      client,
      key: this.#key,
      batch: this.#batch,
      options: this.#options,
      context: this.#context,
      producerIds: this.#producerIds('p'),
      warmUpIds: this.#producerIds('w'),
      remember: (worker) => this.#started.push(worker),
    };
    this.#workers = via.kind === 'http' ? await startHttpWorkers(plan, via) : await startDirectWorkers(plan);
  }

  #producerIds(kind: 'p' | 'w'): string[] {
    return indices(this.#options.producers).map((index) => `${this.#nonce}${kind}${index}`);
  }

  /** What is there already is reported, never removed: it may be somebody's. */
  async #prepareEmpty(): Promise<readonly string[]> {
    const { store, storeIsOurs } = this.#options;
    if (storeIsOurs) await withStore(store, (opened) => opened.clear());
    return (await this.#pattern.inspect(this.#monitor.client, { key: this.#key })).keys;
  }

  /** Adds up the progress of the consumers and passes it to the producers' closed loops and the display. */
  #watch(): HandledBoard {
    const workers = this.#workers.consumers.map(({ worker }) => worker);
    const board = new HandledBoard(
      workers,
      this.#workers.producers.length,
      this.#pattern.capabilities.fanOut,
    );
    let shownAt = performance.now();
    let shown = 0;
    board.onChange(() => {
      const measured = board.byProducer('measured');
      const warmUp = board.byProducer('warmUp');
      this.#workers.producers.forEach((producer, index) => {
        const total = measured[index] || warmUp[index] || 0;
        producer.tell('handled', { total });
      });
      const now = performance.now();
      if (now - shownAt < 100) return;
      const handled = board.total('measured');
      this.#context.progress({
        handled,
        perSecond: Math.max(0, ((handled - shown) * 1000) / (now - shownAt)),
      });
      shownAt = now;
      shown = handled;
    });
    return board;
  }

  async #warmUp(board: HandledBoard): Promise<Pick<TrialRecord, 'warmUp' | 'warmUpSent'>> {
    if (this.#options.warmUp.capMs === 0) return { warmUp: NO_WARM_UP, warmUpSent: 0 };
    const inFlight = this.#inFlightEach();
    const ids = this.#producerIds('w');
    const sending = Promise.all(
      this.#workers.producers.map((producer, index) =>
        producer.call('warmUp', { producerId: ids[index] ?? '', inFlight }),
      ),
    );
    const watching = watchWarmUp(board, this.#options.warmUp, this.#context.signal);
    const warmUp = await Promise.race([watching, sending.then(() => watching)]);
    for (const producer of this.#workers.producers) producer.tell('stopWarmUp', undefined);
    const warmUpSent = (await sending).reduce((sum, { sent }) => sum + sent, 0);
    await board.reached('warmUp', warmUpSent, QUIET_MS, this.#context.signal);
    return { warmUp, warmUpSent };
  }

  async #produce(board: HandledBoard): Promise<ProducerReport[]> {
    const ids = this.#producerIds('p');
    const aborted = (): void => {
      for (const producer of this.#workers.producers) producer.tell('abort', undefined);
    };
    const { signal } = this.#context;
    signal.addEventListener('abort', aborted, { once: true });
    const stalled = this.#endWhenStalled(board, aborted);
    try {
      const reports = await Promise.all(
        this.#workers.producers.map((producer, index) =>
          producer.call('run', this.#load(ids[index] ?? '', index)),
        ),
      );
      signal.throwIfAborted();
      return reports;
    } finally {
      stalled();
      signal.removeEventListener('abort', aborted);
    }
  }

  /** A closed loop waits for the consumers; when they have given up, it must not wait for ever. */
  #endWhenStalled(board: HandledBoard, end: () => void): () => void {
    if (this.#options.mode !== 'capacity') return () => {};
    const timer = setTimeout(end, this.#options.drainDeadlineMs);
    const stop = board.onChange(() => timer.refresh());
    return () => {
      clearTimeout(timer);
      stop();
    };
  }

  #load(producerId: string, index: number): ProducerLoad {
    const { mode, perSecond, producers, inFlight } = this.#options;
    const until = shareOf(this.#options.until, index, producers);
    if (mode === 'rate') return { mode: 'open', producerId, perSecond: (perSecond ?? 0) / producers, until };
    // A backlog is handled by nobody yet: its loop is as wide as the backlog.
    const wide = 'messages' in until ? until.messages : inFlight;
    return { mode: 'closed', producerId, inFlight: mode === 'backlog' ? wide : this.#inFlightEach(), until };
  }

  #inFlightEach(): number {
    const { inFlight, producers, bulk } = this.#options;
    return Math.max(bulk, Math.floor(inFlight / producers));
  }

  async #beginWindow(): Promise<
    () => Promise<Pick<TrialRecord, 'producerResources' | 'consumerResources' | 'redis' | 'machine'>>
  > {
    const endMachine = await beginMachineWindow();
    const before = await snapshot(this.#monitor.client);
    const { producers, consumers, between } = this.#workers;
    await Promise.all([
      ...producers.map((worker) => worker.call('beginWindow', undefined)),
      ...between.map((worker) => worker.call('beginWindow', undefined)),
      ...consumers.map((worker) => worker.call('beginWindow', undefined)),
    ]);
    return async () => {
      const [producerResources, consumerResources] = await Promise.all([
        Promise.all([
          ...producers.map((worker) => worker.call('endWindow', undefined)),
          ...between.map((worker) => worker.call('endWindow', undefined)),
        ]),
        Promise.all(consumers.map((worker) => worker.call('endWindow', undefined))),
      ]);
      const redis = difference(before, await snapshot(this.#monitor.client));
      return { producerResources, consumerResources, redis, machine: await endMachine() };
    };
  }

  /** Drains, stops the consumers and asks everybody what became of the messages. */
  async #audit(): Promise<
    Pick<TrialRecord, 'stops' | 'deliveries' | 'stateAfter' | 'keyType' | 'storedRows'>
  > {
    const stops = await this.#everyConsumer('stop', {
      drain: true,
      deadlineMs: this.#options.drainDeadlineMs,
    });
    const deliveries = await this.#everyConsumer('report', undefined);
    const stateAfter = await this.#pattern.inspect(this.#monitor.client, { key: this.#key });
    const keyType = String(await this.#monitor.client.send(['TYPE', this.#key]));
    return { stops, deliveries, stateAfter, keyType, storedRows: await this.#storedRows() };
  }

  async #storedRows(): Promise<number | undefined> {
    const { store, storeIsOurs } = this.#options;
    if (!storeIsOurs) return undefined;
    return withStore(store, (opened) => opened.count());
  }

  #base(
    keysAtStart: readonly string[],
  ): Pick<TrialRecord, 'pattern' | 'batch' | 'options' | 'managed' | 'keysAtStart'> {
    return {
      pattern: this.#pattern,
      batch: this.#batch,
      options: this.#options,
      managed: this.#context.redis.managed,
      keysAtStart,
    };
  }

  #everyConsumer<Name extends keyof MessagingConsumerApi & string>(
    name: Name,
    parameters: Parameters<MessagingConsumerApi[Name]>[0],
  ): Promise<Awaited<ReturnType<MessagingConsumerApi[Name]>>[]> {
    return Promise.all(this.#workers.consumers.map((consumer) => consumer.call(name, parameters)));
  }
}

function clientOf(factors: Factors, options: MessagingOptions): ClientLibrary {
  const library = options.clients.find((candidate) => candidate === factors.client);
  if (library === undefined)
    throw new Error(`the plan has a client that was not asked for: ${factors.client}`);
  return library;
}

function indices(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index);
}

/** Messages are dealt out as evenly as they can be; a duration is the same for all. */
function shareOf(until: LoadEnd, index: number, producers: number): LoadEnd {
  if (!('messages' in until)) return until;
  const each = Math.floor(until.messages / producers);
  return { messages: each + (index < until.messages % producers ? 1 : 0) };
}
