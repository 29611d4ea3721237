import { usageError } from '../../core/errors.js';
import { typedWorker } from '../../fleet/typed-worker.js';
import type {
  HttpConsumerSettings,
  HttpSenderSettings,
  ProducerServiceSettings,
  RemoteConsumerSettings,
} from '../../workers/http-api.js';
import {
  type HandlingWorker,
  type LoadWorker,
  type ServiceWorker,
  startAll,
  startWorker,
  type TrialWorkers,
  type WorkerPlan,
} from './start-workers.js';
import type { RemoteServices, Via } from './via.js';

/** Room for the body of a batch around its payload. */
const BATCH_OVERHEAD = 2;
const SMALLEST_BODY_LIMIT = 1024 * 1024;

/**
 * The processes of a trial over HTTP:
 *
 *     sender ──HTTP──▶ producer service ──▶ Redis ──▶ consumer service ──▶ store
 *
 * one service for each sender, all of this trial alone. With services of the user there is one sender for all of them,
 * and for each consumer service a worker that drives it.
 */
export function startHttpWorkers(plan: WorkerPlan, via: Via & { kind: 'http' }): Promise<TrialWorkers> {
  return via.remote === undefined
    ? startOwnServices(plan, via.connections)
    : driveServices(plan, via.connections, via.remote);
}

async function startOwnServices(plan: WorkerPlan, connections: number): Promise<TrialWorkers> {
  const { pattern, client, batch, options, context, producerIds, warmUpIds } = plan;
  const { keyPrefix, payloadBytes, bulk, store } = options;
  const { url } = context.redis;
  const bodyLimitBytes = Math.max(SMALLEST_BODY_LIMIT, BATCH_OVERHEAD * payloadBytes * bulk);
  const between: ServiceWorker[] = [];
  const [producers, consumers] = await Promise.all([
    startAll(options.producers, async (index): Promise<LoadWorker> => {
      const wanted: ProducerServiceSettings = { client, url, keyPrefix, bodyLimitBytes };
      const service: ServiceWorker = typedWorker(
        await startWorker(plan, 'http-producer-service', 'producer-service', index, wanted),
      );
      between.push(service);
      return sender(plan, connections, index, [await service.call('address', undefined)]);
    }),
    startAll(options.consumers, async (index): Promise<HandlingWorker> => {
      const settings: HttpConsumerSettings = {
        pattern,
        client,
        url,
        keyPrefix,
        payloadBytes,
        store,
        batch,
        consumerName: `consumer-${index + 1}`,
        producers: producerIds,
        warmUpProducers: warmUpIds,
      };
      return typedWorker(await startWorker(plan, 'http-consumer', 'consumer', index, settings));
    }),
  ]);
  return { producers, consumers, between };
}

async function driveServices(
  plan: WorkerPlan,
  connections: number,
  { producers, consumers }: RemoteServices,
): Promise<TrialWorkers> {
  const { pattern, batch, context } = plan;
  if (context.redis.managed) {
    throw usageError('--redis', undefined, 'given with --producer and --consumer: the Redis they use');
  }
  const [sending, handling] = await Promise.all([
    sender(plan, connections, 0, producers),
    startAll(consumers.length, async (index): Promise<HandlingWorker> => {
      const settings: RemoteConsumerSettings = { pattern, batch, service: consumers[index] ?? '' };
      return typedWorker(await startWorker(plan, 'http-remote-consumer', 'consumer', index, settings));
    }),
  ]);
  return { producers: [sending], consumers: handling, between: [] };
}

async function sender(
  plan: WorkerPlan,
  connections: number,
  index: number,
  services: readonly string[],
): Promise<LoadWorker> {
  const { payloadBytes, bulk } = plan.options;
  const settings: HttpSenderSettings = { pattern: plan.pattern, services, payloadBytes, bulk, connections };
  return typedWorker(await startWorker(plan, 'http-sender', 'producer', index, settings));
}
