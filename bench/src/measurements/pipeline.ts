import { type LibraryName, libraryNames } from '../contenders/pipelines/load-pipelines.js';
import { NANOSECONDS_PER_SECOND } from '../lab.js';
import { REDIS_BENCHMARK } from '../prerequisites.js';
import type { PipelinerApi, PipelinerSettings } from '../processes/pipeliner.js';
import type { Trial } from '../stage.js';
import type { Figures, Measurement, Side } from './measurement.js';
import { runRedisBenchmark } from './redis-benchmark.js';

/**
 * What weir's `pipeline` costs beyond the pipeline of each client library: chunks, back-pressure, an outcome per
 * command. And how far the best of them is from a client in C that builds its commands once and reads no reply.
 */
const DEPTH = 100;
const COMMANDS = 200_000;
/** redis-benchmark does not warm up; it gets enough that its start does not count. */
const REFERENCE_COMMANDS = 1_000_000;
const WARM_UP = 0.2;
const VALUE_BYTES = 100;
const CONDITIONS = `SET of a key of its own for each message, pipelines of ${DEPTH}, one after the other on one connection`;

/** One measurement a library, so that the two trials of a comparison are neighbours in time. */
const pairs: readonly Measurement[] = libraryNames.map((library) => ({
  name: `pipeline-${library}`,
  sides: { weir: side(library, 'weir'), bare: side(library, 'bare') },
  lines: [
    {
      name: `pipeline-${library}-vs-bare-client`,
      item: 'g',
      figure: 'messagesPerSecond',
      side: 'weir',
      baseline: 'bare',
      target: 0.9,
      better: 'higher',
      conditions: `${CONDITIONS}; both look at each reply`,
    },
  ],
}));

const best: Measurement = {
  name: 'pipeline-best',
  sides: {
    ...Object.fromEntries(libraryNames.map((library) => [library, side(library, 'weir')])),
    'redis-benchmark': {
      label: `redis-benchmark -P ${DEPTH} -t set -c 1 -d ${VALUE_BYTES}`,
      messages: REFERENCE_COMMANDS,
      play: async ({ redisUrl }, commands) => ({
        messagesPerSecond: await runRedisBenchmark(redisUrl, {
          ...{ commands, depth: DEPTH, valueBytes: VALUE_BYTES },
        }),
      }),
    },
  },
  lines: [
    {
      name: 'pipeline-best-client-vs-redis-benchmark',
      item: 'g',
      figure: 'messagesPerSecond',
      side: libraryNames,
      baseline: 'redis-benchmark',
      target: 0.3,
      better: 'higher',
      needs: [REDIS_BENCHMARK],
      conditions: `${CONDITIONS}; the client with the highest median of ${libraryNames.join(', ')}; redis-benchmark sets one key again and again`,
    },
  ],
};

export const pipelines: readonly Measurement[] = [...pairs, best];

function side(library: LibraryName, way: PipelinerSettings['way']): Side {
  return {
    label: way === 'weir' ? `weir pipeline over ${library}` : `bare ${library} pipeline`,
    messages: COMMANDS,
    play: (trial, commands) => play(trial, { library, way, url: trial.redisUrl, depth: DEPTH }, commands),
  };
}

async function play(trial: Trial, settings: PipelinerSettings, commands: number): Promise<Figures> {
  const warmUp = Math.round(commands * WARM_UP);
  const pipeliner = await trial.startProcess<PipelinerApi>('bench', 'pipeliner');
  await pipeliner.call('prepare', settings);
  await pipeliner.call('set', { from: 0, count: warmUp });
  const sent = await pipeliner.call('set', { from: warmUp, count: commands });
  const keys = await pipeliner.call('keys', undefined);
  if (keys !== warmUp + commands) {
    throw new Error(`the trial is void: ${warmUp + commands} keys were set and Redis holds ${keys}`);
  }
  return {
    messagesPerSecond: (commands * NANOSECONDS_PER_SECOND) / (sent.lastAcknowledgedNs - sent.firstSendNs),
  };
}
