import { randomBytes } from 'node:crypto';
import type { PatternState } from '@weir/patterns';
import { seededRandom } from '../../core/random.js';
import type { Nanoseconds } from '../../core/units.js';
import type { FaultStage } from '../../faults/fault.js';
import { monotonicNs } from '../../measure/clock.js';
import type { Measurement } from '../../measure/measurement.js';
import type { Factors } from '../../measure/result.js';
import { withStore } from '../../stores/load-stores.js';
import type { FaultConsumerSettings, Trap } from '../../workers/fault-api.js';
import type { ProducerReport, ProducerSettings } from '../../workers/messaging-api.js';
import type { TrialContext } from '../experiment.js';
import { type Case, caseOf } from './cases.js';
import { Crew } from './crew.js';
import { type Ground, prepareGround, redisFigures } from './ground.js';
import { Journal } from './journal.js';
import { measurementOf } from './measurement.js';
import type { FaultsOptions } from './options.js';
import type { FaultRecord } from './record.js';
import { Sender } from './sender.js';
import { endsWithin, waitUntil } from './wait-until.js';

/** Steps that never end by themselves are given up after the load, the outage and this long, in milliseconds. */
const PATIENCE_MS = 10_000;
/** A strike that takes longer than the patience and this is stuck; the longest, a storm, takes 15 s. In milliseconds. */
const STRIKE_LIMIT_MS = 60_000;
/** How long nothing may happen before what is missing counts as missing; retries and blocked reads come on top. */
const QUIET_MS = 400;
/** A fault strikes in the second quarter of so many messages, or of all where there are fewer. */
const LONGEST_LEAD = 2000;
/** Messages sent after the fault, all of which must come through. */
const TAIL = 20;
/** Sent to see whether anybody listens again. */
const PROBE = 5;
const PROBE_WAIT_MS = 150;
/** A pipeline is stretched by this on its way to Redis, so that something can happen while it is under way. */
const STRETCH_MS = 25;
const NO_DELAY = { latencyMs: 0 };

/** Makes one trial: its own Redis, fresh processes, one fault at one message, and an account of every message. */
export async function faultTrial(
  factors: Factors,
  options: FaultsOptions,
  context: TrialContext,
): Promise<Measurement> {
  const trial = await FaultTrial.open(factors, options, context);
  try {
    return measurementOf(await trial.run());
  } finally {
    await trial.close();
  }
}

class FaultTrial {
  readonly #case: Case;
  readonly #options: FaultsOptions;
  readonly #context: TrialContext;
  readonly #ground: Ground;
  readonly #journal = new Journal();
  /** Sets the keys and messages of this trial apart from those of all others. */
  readonly #nonce = randomBytes(4).toString('hex');
  readonly #payloadBytes: number;
  #crew: Crew | undefined;
  #sender: Sender | undefined;

  static async open(factors: Factors, options: FaultsOptions, context: TrialContext): Promise<FaultTrial> {
    const known = caseOf(factors, options);
    const ground = await prepareGround(known.fault, known.persistence, options.serverPath, context);
    const trial = new FaultTrial(known, options, context, ground);
    try {
      await trial.#startWorkers();
    } catch (error) {
      await trial.close();
      throw error;
    }
    return trial;
  }

  private constructor(known: Case, options: FaultsOptions, context: TrialContext, ground: Ground) {
    this.#case = known;
    this.#options = options;
    this.#context = context;
    this.#ground = ground;
    this.#payloadBytes = known.fault.payloadBytes ?? options.payloadBytes;
  }

  async run(): Promise<FaultRecord> {
    const { pattern, fault, persistence } = this.#case;
    const crew = this.#workers.crew;
    await crew.begin();
    const { sends, struckAtNs } = await this.#loadAndStrike();
    const resumed = struckAtNs === undefined || (await this.#resumes());
    await this.#settle(sends.acknowledged);
    const reordered = this.#journal.reordered(this.#mainProducer);
    const deadLettered = (await this.#inspect()).deadLettered;
    if (deadLettered > 0) await this.#replayDeadLetters(sends.acknowledged);

    const { drained } = await crew.stop(this.#patienceMs);
    return {
      pattern,
      fault,
      persistence,
      options: this.#options,
      payloadBytes: this.#payloadBytes,
      producer: this.#mainProducer,
      sends,
      journal: this.#journal,
      consumers: crew.names,
      struckAtNs,
      resumed,
      reordered,
      deadLettered,
      counters: await crew.counters(),
      drained,
      stateAfter: await this.#inspect(),
      isList: pattern.commands.send.some(({ name }) => name === 'LPUSH'),
      storedRows: await this.#storedRows(),
      redis: await redisFigures(this.#ground.redis),
    };
  }

  async close(): Promise<void> {
    await this.#crew?.close();
    await this.#sender?.stop();
    try {
      await this.#case.pattern.destroy(this.#ground.redis, { key: this.#key });
    } catch {
      // Redis is gone: the trial's own error says so, and a server of ours is removed as a whole.
    } finally {
      await this.#ground.close();
    }
  }

  /** The load runs while the fault strikes; while draining, it is over by then. */
  async #loadAndStrike(): Promise<{ sends: ProducerReport; struckAtNs: Nanoseconds | undefined }> {
    const { fault, point } = this.#case;
    const { crew, sender } = this.#workers;
    const isDraining = point === 'while-draining';
    // A consumer whose database is down holds what it has and takes nothing more.
    if (isDraining) await crew.setStoreDown(true);
    if (point === 'mid-pipeline') this.#ground.proxy.set({ toServer: { latencyMs: STRETCH_MS } });
    const load = sender.load(point === 'mid-pipeline' ? 'pipelines' : 'paced', this.#options);
    // Awaited below; a trial that fails before that ends the producer, which is then no failure of its own.
    load.catch(() => undefined);
    if (fault.strike === undefined) return { sends: await load, struckAtNs: undefined };

    let stopping: Promise<unknown> = Promise.resolve();
    if (isDraining) {
      await load;
      stopping = crew.stop(this.#patienceMs);
      stopping.catch(() => undefined);
      await crew.setStoreDown(false);
    }
    const consumer = point === 'mid-pipeline' ? await this.#pipelineUnderWay() : await this.#trapped();
    const struckAtNs = monotonicNs();
    const ground = this.#ground;
    const stage: FaultStage = {
      proxy: ground.proxy,
      get redis() {
        return ground.redis;
      },
      server: ground.server,
      key: this.#key,
      commands: {
        send: this.#case.pattern.commands.send.map(({ name }) => name),
        receive: this.#case.pattern.commands.receive.map(({ name }) => name),
      },
      settings: this.#options,
      consumer,
      release: () => crew.release(),
      loadSent: async () => {
        await load;
      },
    };
    await endsWithin(
      fault.name,
      fault.strike(stage),
      STRIKE_LIMIT_MS + this.#patienceMs,
      this.#context.signal,
    );
    // A reply that was to be lost and has not been must not be lost to what comes after the fault.
    ground.proxy.disarm();
    crew.release();
    if (point === 'mid-pipeline') ground.proxy.set({ toServer: NO_DELAY });
    const sends = await load;
    await stopping;
    if (isDraining) await crew.begin();
    return { sends, struckAtNs };
  }

  /** @throws when no consumer comes to the message: then nothing is said about the fault */
  async #trapped(): Promise<FaultStage['consumer']> {
    const { crew } = this.#workers;
    let consumer: FaultStage['consumer'] | undefined;
    void crew.trapped.then((struck) => {
      consumer = struck;
    });
    await waitUntil(() => consumer !== undefined, this.#patienceMs, this.#context.signal);
    if (consumer !== undefined) return consumer;
    throw new Error(
      `no consumer came to message ${this.#struckSequence}: ${(await crew.errors()).join('; ') || 'without an error'}`,
    );
  }

  /** Waits until a good part of the first pipeline has been written. */
  async #pipelineUnderWay(): Promise<FaultStage['consumer']> {
    const { proxy } = this.#ground;
    const bytes = proxy.counters.bytesToServer + (this.#bulk * this.#payloadBytes) / 2;
    const { signal } = this.#context;
    await waitUntil(() => proxy.counters.bytesToServer >= bytes, this.#patienceMs, signal);
    return this.#workers.crew.first;
  }

  /** Sends until somebody handles it; then everything that is sent must come through. */
  async #resumes(): Promise<boolean> {
    const { signal } = this.#context;
    const isBack = await waitUntil(
      async () => {
        const { producerId } = await this.#workers.sender.tail(PROBE);
        return waitUntil(() => this.#journal.handledOf(producerId) > 0, PROBE_WAIT_MS, signal);
      },
      this.#patienceMs,
      signal,
    );
    if (!isBack) return false;
    const { producerId, acknowledged } = await this.#workers.sender.tail(TAIL);
    return (
      acknowledged === TAIL &&
      (await waitUntil(() => this.#journal.handledOf(producerId) === TAIL, this.#patienceMs, signal))
    );
  }

  /** Waits until all that was acknowledged has been handled, or nothing comes any more and nothing waits. */
  async #settle(acknowledged: number): Promise<void> {
    const { retryDelaysMs, blockMs } = this.#options;
    const quietMs = QUIET_MS + blockMs + Math.max(...retryDelaysMs);
    await waitUntil(
      async () => {
        if (this.#journal.handledOf(this.#mainProducer) >= acknowledged) return true;
        if (this.#journal.quietMs < quietMs) return false;
        const { unread, pending } = await this.#inspect();
        return unread + pending === 0;
      },
      this.#patienceMs,
      this.#context.signal,
    );
  }

  /** The handler has been mended: what was given up is sent again, as an operator would. */
  async #replayDeadLetters(acknowledged: number): Promise<void> {
    const deadLetters = this.#case.pattern.deadLetters?.(this.#ground.redis, { key: this.#key });
    if (deadLetters === undefined) return;
    await this.#workers.crew.mend();
    await deadLetters.replay((await deadLetters.list()).map(({ id }) => id));
    await this.#settle(acknowledged);
  }

  #inspect(): Promise<PatternState> {
    return this.#case.pattern.inspect(this.#ground.redis, { key: this.#key });
  }

  #storedRows(): Promise<number> {
    return withStore(this.#options.store, (store) => store.count(this.#case.pattern.name));
  }

  async #startWorkers(): Promise<void> {
    const { store, storeIsOurs } = this.#options;
    if (storeIsOurs) await withStore(store, (opened) => opened.clear());
    const [sender, crew] = await Promise.all([
      Sender.start(this.#producerSettings(), this.#nonce, this.#context),
      Crew.start(this.#consumerSettings(), this.#journal, this.#context),
    ]);
    this.#sender = sender;
    this.#crew = crew;
  }

  #producerSettings(): ProducerSettings {
    return {
      pattern: this.#case.pattern.name,
      client: this.#options.client,
      url: this.#ground.proxy.url,
      key: this.#key,
      payloadBytes: this.#payloadBytes,
      bulk: this.#bulk,
    };
  }

  #consumerSettings(): FaultConsumerSettings[] {
    const { pattern, fault, point } = this.#case;
    const { client, batch, blockMs, leaseMs, retryDelaysMs, store, offset, every, consumers } = this.#options;
    const { competingConsumers, storedOffset } = pattern.capabilities;
    const count = competingConsumers ? (consumers ?? fault.consumers ?? 1) : 1;
    const trap: Trap | undefined =
      point === undefined || point === 'mid-pipeline' ? undefined : { sequence: this.#struckSequence, point };
    return Array.from({ length: count }, (_, index) => ({
      ...{
        pattern: pattern.name,
        client,
        url: this.#ground.proxy.url,
        key: this.#key,
        batch,
        blockMs,
        leaseMs,
      },
      ...{ retryDelaysMs, store, trap, producer: this.#mainProducer },
      consumerName: `consumer-${index + 1}`,
      offsetInStore: offset === 'store' && storedOffset === true,
      handler:
        fault.handler === undefined
          ? undefined
          : { fault: fault.handler, every, sequence: this.#struckSequence },
    }));
  }

  /** The message at which the fault strikes: early in a long load, the same for every pattern, another in each round. */
  get #struckSequence(): number {
    const quarter = Math.min(this.#options.messages, LONGEST_LEAD) / 4;
    const { seed, round } = this.#context;
    return Math.floor(quarter + seededRandom(seed + round)() * quarter);
  }

  get #bulk(): number {
    return Math.ceil(this.#options.messages / 2);
  }

  get #key(): string {
    return `${this.#options.keyPrefix}${this.#case.pattern.defaultKey}:${this.#nonce}`;
  }

  get #mainProducer(): string {
    return `${this.#nonce}p`;
  }

  get #patienceMs(): number {
    const { messages, perSecond, outageMs } = this.#options;
    return PATIENCE_MS + 2 * outageMs + (messages / perSecond) * 1000;
  }

  get #workers() {
    const [crew, sender] = [this.#crew, this.#sender];
    if (crew === undefined || sender === undefined) throw new Error('the workers are not there yet');
    return { crew, sender };
  }
}
