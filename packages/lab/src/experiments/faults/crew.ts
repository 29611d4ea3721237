import type { ConsumerCounters } from '@weir/patterns';
import type { StruckConsumer } from '../../faults/fault.js';
import { type TypedWorker, typedWorker } from '../../fleet/typed-worker.js';
import type { FaultConsumerApi, FaultConsumerSettings, HandledMessage } from '../../workers/fault-api.js';
import type { TrialContext } from '../experiment.js';
import type { Journal } from './journal.js';

type ConsumerWorker = TypedWorker<FaultConsumerApi>;

/** The place of a consumer: its name stays, the process in it may change. */
interface Seat {
  readonly settings: FaultConsumerSettings;
  worker: ConsumerWorker;
  isGone: boolean;
  /** Started, and not stopped since. */
  isRunning: boolean;
  exited: Promise<unknown>;
}

/** The consumers of a trial with a fault. */
export class Crew {
  readonly #context: TrialContext;
  readonly #journal: Journal;
  readonly #seats: Seat[] = [];
  readonly #trapped: Promise<StruckConsumer>;
  #onTrapped: (seat: Seat) => void = () => undefined;

  /** Starts one process for each of the settings; the names in them differ. */
  static async start(
    settings: readonly FaultConsumerSettings[],
    journal: Journal,
    context: TrialContext,
  ): Promise<Crew> {
    const crew = new Crew(journal, context);
    await Promise.all(settings.map((own) => crew.#take(own)));
    return crew;
  }

  private constructor(journal: Journal, context: TrialContext) {
    this.#journal = journal;
    this.#context = context;
    this.#trapped = new Promise((resolve) => {
      this.#onTrapped = (seat) => {
        // Whoever is given the message instead is not to stop at it as well.
        for (const other of this.#seats) {
          if (other !== seat && !other.isGone) other.worker.tell('release', undefined);
        }
        resolve(this.#struck(seat));
      };
    });
  }

  get names(): readonly string[] {
    return this.#seats.map(({ settings }) => settings.consumerName);
  }

  /** Resolves when a handler stands at the trap. */
  get trapped(): Promise<StruckConsumer> {
    return this.#trapped;
  }

  /** The first one, for faults that strike no consumer in particular. */
  get first(): StruckConsumer {
    const [seat] = this.#seats;
    if (seat === undefined) throw new Error('a trial has a consumer');
    return this.#struck(seat);
  }

  /** Every consumer that is not at work begins, or begins again after a stop. */
  async begin(): Promise<void> {
    await this.#everyone(async (worker, seat) => {
      if (seat.isRunning) return;
      await worker.call('start', { from: 'new' });
      seat.isRunning = true;
    });
  }

  release(): void {
    for (const { worker, isGone } of this.#seats) if (!isGone) worker.tell('release', undefined);
  }

  async mend(): Promise<void> {
    await this.#everyone((worker) => worker.call('mend', undefined));
  }

  async setStoreDown(isDown: boolean): Promise<void> {
    await this.#everyone((worker) => worker.call('setStoreDown', { isDown }));
  }

  /** @returns whether every one was done before the deadline; one that ended meanwhile says nothing */
  async stop(deadlineMs: number): Promise<{ readonly drained: boolean }> {
    const reports = await this.#everyone(async (worker, seat) => {
      const report = await worker.call('stop', { drain: true, deadlineMs });
      seat.isRunning = false;
      return report;
    });
    return { drained: reports.every((report) => report?.drained !== false) };
  }

  /** Of the processes that are there now: what a process counted dies with it. */
  async counters(): Promise<ConsumerCounters[]> {
    const counters = await this.#everyone((worker) => worker.call('counters', undefined));
    return counters.filter((own) => own !== undefined);
  }

  async errors(): Promise<string[]> {
    const errors = await this.#everyone((worker) => worker.call('errors', undefined));
    return errors.flatMap((own) => own ?? []);
  }

  /** Ends every process. */
  async close(): Promise<void> {
    await Promise.all(
      this.#seats.map(({ worker }) => {
        // One that was stopped with SIGSTOP hears nothing else.
        worker.worker.kill('SIGCONT');
        return worker.worker.stop();
      }),
    );
  }

  /** Asks all that live; one that dies over it answers nothing. */
  #everyone<Answer>(
    ask: (worker: ConsumerWorker, seat: Seat) => Promise<Answer>,
  ): Promise<(Answer | undefined)[]> {
    return Promise.all(
      this.#seats.map(async (seat) => {
        const { worker } = seat;
        if (seat.isGone) return undefined;
        return ask(worker, seat).catch((error: unknown) => {
          if (seat.isGone || seat.worker !== worker) return undefined;
          throw error;
        });
      }),
    );
  }

  async #take(settings: FaultConsumerSettings): Promise<void> {
    const worker = await this.#process(settings, this.#seats.length);
    const seat: Seat = { settings, worker, isGone: false, isRunning: false, exited: Promise.resolve() };
    this.#seats.push(seat);
    this.#sit(seat, worker);
    await worker.call('prepare', settings);
  }

  async #process(settings: FaultConsumerSettings, index: number): Promise<ConsumerWorker> {
    const worker = await this.#context.fleet.start({ module: 'fault-consumer', role: 'consumer', index });
    worker.on('handled', (messages) =>
      this.#journal.add(settings.consumerName, messages as readonly HandledMessage[]),
    );
    return typedWorker<FaultConsumerApi>(worker);
  }

  #sit(seat: Seat, worker: ConsumerWorker): void {
    seat.worker = worker;
    seat.isGone = false;
    seat.exited = worker.worker.exited.then(() => {
      if (seat.worker !== worker) return;
      seat.isGone = true;
      seat.isRunning = false;
    });
    worker.worker.on('trapped', () => this.#onTrapped(seat));
  }

  #struck(seat: Seat): StruckConsumer {
    return {
      signal: (signal) => seat.worker.worker.kill(signal),
      get exited() {
        return seat.exited;
      },
      restart: async () => {
        // It has been there: the trap is behind it.
        const settings = { ...seat.settings, trap: undefined };
        const worker = await this.#process(settings, this.#seats.indexOf(seat));
        this.#sit(seat, worker);
        await worker.call('prepare', settings);
        await worker.call('start', { from: 'new' });
        seat.isRunning = true;
      },
      setStoreDown: (isDown) => this.setStoreDown(isDown),
      block: (forMs) => seat.worker.tell('block', { forMs }),
    };
  }
}
