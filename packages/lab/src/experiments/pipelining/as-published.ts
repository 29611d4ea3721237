import { NANOSECONDS_PER_SECOND, type Nanoseconds, significant } from '../../core/units.js';
import type { AsPublished, Comparison, Plan, Summary } from '../../measure/result.js';
import type { TrialContext } from '../experiment.js';
import type { PipeliningOptions } from './options.js';
import { withClient } from './trial.js';

/**
 * The publication says "about 5 times faster" and "2.5 s saved" for 10,000 SETs; the two rates follow from those.
 */
const PUBLISHED = { plainPerSecond: 3_200, pipelinePerSecond: 16_000 };
const PUBLISHED_OPERATIONS = 10_000;
const METHOD =
  'The original: 10,000 SETs one by one and then 10,000 in one pipeline, in this order, each once, in a cold process; ' +
  'the answers were not looked at.';

/** Replays the publication, flaws and all, on the Redis of this run and with its first client. */
export async function replayPipelining(
  { plan, summary }: { readonly plan: Plan; readonly summary: Summary },
  options: PipeliningOptions,
  context: TrialContext,
): Promise<AsPublished | undefined> {
  if (!options.asPublished) return undefined;
  const [client] = options.clients;
  const [rtt = 0] = options.roundTripsMs ?? [];
  const original: PipeliningOptions = { ...options, command: 'set', operations: PUBLISHED_OPERATIONS };
  const factors = { method: 'pipeline', depth: PUBLISHED_OPERATIONS, client: String(client), rtt };
  const { plainNs, pipelineNs } = await withClient(factors, original, context, ({ worker }) =>
    worker.call('replay', { operations: PUBLISHED_OPERATIONS }),
  );
  const deepest = Math.max(...options.depths);
  return {
    method: METHOD,
    unit: 'op/s',
    rows: [
      {
        variant: 'one by one',
        published: PUBLISHED.plainPerSecond,
        replayed: rateOf(plainNs),
        measured: measuredAt(1, plan, summary),
      },
      {
        variant: 'one pipeline',
        published: PUBLISHED.pipelinePerSecond,
        replayed: rateOf(pipelineNs),
        measured: measuredAt(deepest, plan, summary),
      },
    ],
    sentences: [
      `As published, one pipeline is ${significant(plainNs / pipelineNs)} times as fast as one by one on this machine.`,
      ...instead(summary.comparisons),
    ],
  };
}

function rateOf(elapsedNs: Nanoseconds): number {
  return (PUBLISHED_OPERATIONS * NANOSECONDS_PER_SECOND) / elapsedNs;
}

/** Of the first variant of that depth; one by one counts as depth 1. */
function measuredAt(depth: number, { variants }: Plan, summary: Summary): number | null {
  const variant =
    variants.find(({ factors }) => depth === 1 && factors.method === 'sequential') ??
    variants.find(({ factors }) => factors.depth === depth);
  const estimate = summary.variants.find(({ name }) => name === variant?.name)?.metrics.throughput;
  return estimate?.median ?? null;
}

/** The honest result, in the words of its own verdicts: with an interval, and for more than one depth. */
function instead(comparisons: readonly Comparison[]): string[] {
  const known = comparisons.filter(({ metric, ratio }) => metric === 'throughput' && ratio !== null);
  if (known.length === 0) return ['This run did not compare depths or methods.'];
  return known.map(({ sentence }) => `Here, in interleaved rounds and warm: ${sentence}.`);
}
