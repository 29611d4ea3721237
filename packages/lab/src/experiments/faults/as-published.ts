import type { RedisClient } from '@weir/patterns';
import type { AsPublished, Plan, Summary } from '../../measure/result.js';
import { connectClient } from '../../redis/clients.js';
import type { TrialContext } from '../experiment.js';
import type { FaultsOptions } from './options.js';
import { PUBLISHED_CONSUMERS, type PublishedConsumer } from './published-consumers.js';

/** As the publication has it. */
const MESSAGES = 100;
const EVERY = 4;
const METHOD =
  'The original: 100 messages sent one after the other, an exception at every 4th message (queue, pubsub) or every 4th ' +
  'batch (stream-xread, stream-group); in queue and stream-xread the first exception ended the reading.';

/** Replays the published scenario, flaws and all, on the Redis of this run. */
export async function replayFaults(
  { plan, summary }: { readonly plan: Plan; readonly summary: Summary },
  { asPublished, keyPrefix }: FaultsOptions,
  { redis, signal }: TrialContext,
): Promise<AsPublished | undefined> {
  if (!asPublished) return undefined;
  const { client, close } = await connectClient('node-redis', redis.url, { name: 'weir-replay' });
  try {
    const rows: AsPublished['rows'] = [];
    for (const [variant, consumer] of Object.entries(PUBLISHED_CONSUMERS)) {
      signal.throwIfAborted();
      rows.push({
        variant,
        published: consumer.published.stored,
        replayed: await replay(consumer, client, `${keyPrefix}published:${variant}`),
        measured: deliveredUnderThrows(variant, plan, summary),
      });
    }
    return { method: METHOD, unit: `messages stored of ${MESSAGES}`, rows, sentences: sentencesOf(plan) };
  } finally {
    await close();
  }
}

/** One consumer and one sender at the same time; the key is removed before and after. */
async function replay(
  { send, consume }: PublishedConsumer,
  client: RedisClient,
  key: string,
): Promise<number> {
  await client.send(['DEL', key]);
  const connection = await client.openConnection({ name: 'weir-replay-reader' });
  let isSent = false;
  try {
    let ready = (): void => undefined;
    const isReady = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const consuming = consume({ client, connection, key, every: EVERY, isSent: () => isSent, ready });
    await isReady;
    for (let message = 0; message < MESSAGES; message++) await send(client, key, `message ${message}`);
    isSent = true;
    return await consuming;
  } finally {
    await connection.close();
    await client.send(['DEL', key]);
  }
}

/** Messages delivered under `handler-throws` in this run, of every 100 acknowledged; null when it was not tried. */
function deliveredUnderThrows(pattern: string, plan: Plan, summary: Summary): number | null {
  const variant = plan.variants.find(
    ({ factors }) => factors.pattern === pattern && factors.fault === 'handler-throws',
  );
  const ledger = summary.variants.find(({ name }) => name === variant?.name)?.ledger;
  if (ledger === undefined || ledger.acknowledged === 0) return null;
  return (ledger.delivered / ledger.acknowledged) * MESSAGES;
}

function sentencesOf(plan: Plan): string[] {
  const figures = Object.entries(PUBLISHED_CONSUMERS).map(
    ([name, { published }]) => `${name} ${published.words}`,
  );
  const { every } = plan.workload;
  return [
    `Published: ${figures.join(', ')} of 100 messages stored. How many were left when the first exception ended the ` +
      'reading is a matter of timing, and is no property of a pattern.',
    `Here every pattern meets the exception at the same messages (every ${every}th), one message at a time, and goes on ` +
      'reading: a pattern without acknowledgement loses exactly those, one with retries loses none.',
  ];
}
