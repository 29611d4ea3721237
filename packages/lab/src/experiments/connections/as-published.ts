import { significant } from '../../core/units.js';
import type { AsPublished, Plan, Summary } from '../../measure/result.js';
import { multiplexed } from '../../services/strategies/multiplexed.js';
import { pool } from '../../services/strategies/pool.js';
import type { TrialContext } from '../experiment.js';
import { throughputOf } from './answers.js';
import type { ConnectionsOptions } from './options.js';
import { openStage, type StageSettings } from './stage.js';
import type { StrategyChoice } from './strategy-choice.js';
import { withEntries } from './trial.js';

/**
 * What the publication says: requests per second, connections of Redis and response time, 740 users for three
 * minutes, four servers, one run each on different days.
 */
interface Published {
  /** As the publication calls it. */
  readonly name: string;
  /** What it really was. */
  readonly choice: StrategyChoice;
  readonly perSecond: number;
  readonly connections: number;
  readonly latencyMs: number;
  /** The strategy of this run that bears the name rightly. */
  readonly honest: string;
}

const PUBLISHED_USERS = 740;
/** About 99 % of the lookups missed. */
const PUBLISHED_HIT_RATE = 0.01;

const PUBLISHED: readonly Published[] = [
  {
    name: 'no pool (a pool of 8)',
    choice: { label: 'pool-8', strategy: pool, poolSize: 8, test: 'never', autoPipelining: false },
    ...{ perSecond: 31_000, connections: 35, latencyMs: 100, honest: 'per-request' },
  },
  {
    name: 'pool of 128 (two PINGs an operation)',
    choice: {
      label: 'pool-128',
      ...{ strategy: pool, poolSize: 128, test: 'on-borrow-and-return', autoPipelining: false },
    },
    ...{ perSecond: 55_000, connections: 515, latencyMs: 50, honest: 'pool-128' },
  },
  {
    name: 'one connection',
    choice: {
      label: 'multiplexed',
      strategy: multiplexed,
      poolSize: 1,
      test: 'never',
      autoPipelining: false,
    },
    ...{ perSecond: 100_000, connections: 6, latencyMs: 7.5, honest: 'multiplexed' },
  },
];

const METHOD =
  'The original: each strategy once, cold, in this order; "no pool" was a pool of 8 for each server; the pool of 128 ' +
  'sent a PING before and one after each operation; 99 % of the lookups found nothing.';

/** Replays the publication, flaws and all, on the Redis of this run and with its first client. */
export async function replayConnections(
  { plan, summary }: { readonly plan: Plan; readonly summary: Summary },
  options: ConnectionsOptions,
  context: TrialContext,
): Promise<AsPublished | undefined> {
  if (!options.asPublished) return undefined;
  const replays: Replay[] = [];
  for (const published of PUBLISHED) {
    context.signal.throwIfAborted();
    replays.push({ published, ...(await replay(published, options, context)) });
  }
  return {
    method: METHOD,
    unit: 'req/s',
    rows: replays.map(({ published, perSecond }) => ({
      variant: published.name,
      published: published.perSecond,
      replayed: perSecond,
      measured: measuredOf(published.honest, plan, summary),
    })),
    sentences: [
      ...replays.map(connectionsSentence),
      ...replays.map(({ published }) => littleSentence(published)),
      ...instead(summary),
    ],
  };
}

interface Replay {
  readonly published: Published;
  readonly perSecond: number;
  readonly connections: number;
}

async function replay(
  { choice }: Published,
  options: ConnectionsOptions,
  context: TrialContext,
): Promise<Omit<Replay, 'published'>> {
  const [client] = options.clients;
  if (client === undefined) throw new Error('no client was asked for');
  const settings: StageSettings = {
    ...options,
    cast: { state: 'ours', choice, client, apps: options.apps },
    request: 'get',
    hitRate: PUBLISHED_HIT_RATE,
  };
  return withEntries(settings, context, async (monitor) => {
    const stage = await openStage(settings, context);
    try {
      const load = { mode: 'closed', forMs: options.durationMs } as const;
      const { reports, seen } = await stage.measure(load, monitor);
      return { perSecond: throughputOf(reports), connections: seen.most };
    } finally {
      await stage.close();
    }
  });
}

function connectionsSentence({ published, connections }: Replay): string {
  return (
    `${published.name}: ${connections} connections here, ${published.connections} as published with four servers` +
    (published.honest === 'per-request' ? '; a connection per request was never measured' : '')
  );
}

/** Little's law, N = throughput x latency, of the published figures themselves. */
function littleSentence({ name, perSecond, latencyMs }: Published): string {
  const impliedMs = (PUBLISHED_USERS / perSecond) * 1000;
  return (
    `${name}: ${PUBLISHED_USERS} users at ${perSecond.toLocaleString('en-US')} requests per second take ` +
    `${significant(impliedMs)} ms each (Little's law), not the ${latencyMs} ms that were read off a plot`
  );
}

function measuredOf(strategy: string, plan: Plan, { variants }: Summary): number | null {
  const variant = plan.variants.find(({ factors, role }) => factors.strategy === strategy && role !== 'a-a');
  return variants.find(({ name }) => name === variant?.name)?.metrics.throughput?.median ?? null;
}

/** The honest result, in the words of its own verdicts. */
function instead({ comparisons }: Summary): string[] {
  const known = comparisons.filter(({ metric, ratio }) => metric === 'throughput' && ratio !== null);
  if (known.length === 0) return ['This run did not compare the throughput of strategies.'];
  return known.map(
    ({ sentence }) => `Here, in interleaved rounds, warm, every lookup as planned: ${sentence}.`,
  );
}
