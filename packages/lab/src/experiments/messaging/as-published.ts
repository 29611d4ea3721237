import { join } from 'node:path';
import type { AsPublished, Plan, Summary } from '../../measure/result.js';
import { connectClient } from '../../redis/clients.js';
import { resolveStore } from '../../stores/load-stores.js';
import { httpClient } from '../../workers/http-client.js';
import type { TrialContext } from '../experiment.js';
import { startHttpWorkers } from './http-workers.js';
import type { MessagingOptions } from './options.js';
import { differences, limitSentence } from './published-sentences.js';
import type { WorkerPlan } from './start-workers.js';

/**
 * What the publication says: message-by-message saves for queue and pub/sub, batches of up to 100 for the streams, and
 * the rates it found (10,000 messages, mean of 5, local machine, MySQL). A pattern that is not listed was not published
 * and is replayed like a stream.
 */
const PUBLISHED: Readonly<Record<string, { readonly batch: number; readonly perSecond: number }>> = {
  queue: { batch: 1, perSecond: 97 },
  'stream-xread': { batch: 100, perSecond: 205 },
  'stream-group': { batch: 100, perSecond: 182 },
  pubsub: { batch: 1, perSecond: 188 },
};
const OTHER_BATCH = 100;
const DEFAULT_MESSAGES = 10_000;
const DRAIN_DEADLINE_MS = 30_000;
const METHOD =
  'The original: one POST per message, each after the answer to the one before; the patterns one after the other in a ' +
  'fixed order, each once and cold; queue and pub/sub saved message by message, streams in batches of up to 100; the ' +
  'time counts from start to the end of stop, idle time included.';

/** Replays the publication through the services, flaws and all, on the Redis of this run. */
export async function replayAsPublished(
  { plan, summary }: { readonly plan: Plan; readonly summary: Summary },
  options: MessagingOptions,
  context: TrialContext,
): Promise<AsPublished | undefined> {
  if (!options.asPublished) return undefined;
  const messages = 'messages' in options.until ? options.until.messages : DEFAULT_MESSAGES;
  const rows: AsPublished['rows'] = [];
  for (const { name } of options.patterns) {
    context.signal.throwIfAborted();
    rows.push({
      variant: name,
      published: PUBLISHED[name]?.perSecond ?? null,
      replayed: await replay(name, messages, options, context),
      measured: measuredOf(name, plan, summary),
    });
  }
  const sentences = [...differences(rows, plan, summary), ...limitSentence(rows)];
  return { method: METHOD, unit: 'msg/s', rows, sentences };
}

/** One pattern: start, send one by one, stop. @returns messages per second of the original's window */
async function replay(
  pattern: string,
  messages: number,
  options: MessagingOptions,
  context: TrialContext,
): Promise<number> {
  const found = options.patterns.find(({ name }) => name === pattern);
  const [client] = options.clients;
  if (found === undefined || client === undefined) throw new Error(`${pattern} was not asked for`);
  const started: { stop(): Promise<void> }[] = [];
  const workerPlan: WorkerPlan = {
    pattern,
    client,
    key: options.keyPrefix + found.defaultKey,
    batch: PUBLISHED[pattern]?.batch ?? OTHER_BATCH,
    options: { ...options, producers: 1, consumers: 1, bulk: 1, store: await storeOf(options, context) },
    context,
    producerIds: [],
    warmUpIds: [],
    remember: (worker) => started.push(worker),
  };
  try {
    const { between, consumers } = await startHttpWorkers(workerPlan, {
      kind: 'http',
      connections: 1,
      remote: undefined,
    });
    const [consumer] = consumers;
    const [service] = between;
    if (consumer === undefined || service === undefined) throw new Error('the services did not start');
    const url = await service.call('address', undefined);
    const sender = httpClient(url, 1);
    const body = 'x'.repeat(options.payloadBytes);
    const began = performance.now();
    await consumer.call('start', { from: 'new' });
    for (let sent = 0; sent < messages; sent++) {
      context.signal.throwIfAborted();
      await sender.request('POST', `/${pattern}/send`, body);
    }
    const { counters } = await consumer.call('stop', { drain: true, deadlineMs: DRAIN_DEADLINE_MS });
    const seconds = (performance.now() - began) / 1000;
    sender.close();
    return counters.handled / seconds;
  } finally {
    await Promise.all(started.map((worker) => worker.stop()));
    await destroy(workerPlan, options, context);
  }
}

async function destroy(
  { pattern, key, client }: WorkerPlan,
  { patterns }: MessagingOptions,
  { redis }: TrialContext,
): Promise<void> {
  const connection = await connectClient(client, redis.url, { name: 'weir-monitor' });
  try {
    await patterns.find(({ name }) => name === pattern)?.destroy(connection.client, { key });
  } finally {
    await connection.close();
  }
}

/** The original always had a database behind its handlers. */
async function storeOf({ store }: MessagingOptions, { temporaryFolder }: TrialContext): Promise<string> {
  const keeps = (await resolveStore(store)).keeps ?? true;
  return keeps ? store : `sqlite:${join(temporaryFolder, 'as-published.db')}`;
}

/** Median of the first variant that carries the pattern. */
function measuredOf(pattern: string, plan: Plan, { variants }: Summary): number | null {
  const variant = plan.variants.find(({ factors, role }) => factors.pattern === pattern && role !== 'a-a');
  const figures = variants.find(({ name }) => name === variant?.name);
  return figures?.metrics.throughput?.median ?? null;
}
