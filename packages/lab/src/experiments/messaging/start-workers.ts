import type { Worker } from '../../fleet/fleet.js';
import { type TypedWorker, typedWorker } from '../../fleet/typed-worker.js';
import type { ClientLibrary } from '../../redis/clients.js';
import type { ProducerServiceApi } from '../../workers/http-api.js';
import type {
  ConsumerSettings,
  MessagingConsumerApi,
  MessagingProducerApi,
  ProducerSettings,
} from '../../workers/messaging-api.js';
import type { TrialContext } from '../experiment.js';
import type { MessagingOptions } from './options.js';

/** The processes of a trial. */
export interface TrialWorkers {
  /** They make the load, whatever way it takes. */
  readonly producers: readonly LoadWorker[];
  readonly consumers: readonly HandlingWorker[];
  /** Processes between producers and Redis: their cost counts as the producers'. */
  readonly between: readonly ServiceWorker[];
}

/** A worker after `prepare`: from there on all ways look alike. */
export type LoadWorker = TypedWorker<MessagingProducerApi<unknown>>;
export type HandlingWorker = TypedWorker<MessagingConsumerApi<unknown>>;
export type ServiceWorker = TypedWorker<ProducerServiceApi>;

/** What the workers of one trial have in common. */
export interface WorkerPlan {
  readonly pattern: string;
  readonly client: ClientLibrary;
  readonly key: string;
  readonly batch: number;
  readonly options: MessagingOptions;
  readonly context: TrialContext;
  /** Ids that the messages bear, by producer. */
  readonly producerIds: readonly string[];
  readonly warmUpIds: readonly string[];
  /** Remembers a worker, so that it is ended whatever happens. */
  readonly remember: (worker: Worker) => void;
}

/** Starts a worker and prepares it. */
export async function startWorker<Settings>(
  { context, remember }: WorkerPlan,
  module: string,
  role: string,
  index: number,
  settings: Settings,
): Promise<Worker> {
  const worker = await context.fleet.start({ module, role, index });
  remember(worker);
  await worker.call('prepare', settings);
  return worker;
}

/** Starts as many as are wanted at once, and waits for all of them before it throws what one of them threw. */
export async function startAll<T>(count: number, start: (index: number) => Promise<T>): Promise<T[]> {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, (_, index) => start(index)));
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}

/** Producers and consumers that talk to Redis themselves. */
export async function startDirectWorkers(plan: WorkerPlan): Promise<TrialWorkers> {
  const { pattern, client, key, batch, options, context, producerIds, warmUpIds } = plan;
  const { bulk, payloadBytes, store } = options;
  const shared = { pattern, client, url: context.redis.url, key, payloadBytes };
  const [producers, consumers] = await Promise.all([
    startAll(options.producers, async (index): Promise<LoadWorker> => {
      const settings: ProducerSettings = { ...shared, bulk };
      return typedWorker(await startWorker(plan, 'messaging-producer', 'producer', index, settings));
    }),
    startAll(options.consumers, async (index): Promise<HandlingWorker> => {
      const settings: ConsumerSettings = {
        ...shared,
        store,
        batch,
        consumerName: `consumer-${index + 1}`,
        producers: producerIds,
        warmUpProducers: warmUpIds,
      };
      return typedWorker(await startWorker(plan, 'messaging-consumer', 'consumer', index, settings));
    }),
  ]);
  return { producers, consumers, between: [] };
}
