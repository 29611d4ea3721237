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
/** At the rates of this measurement a trial of fewer would end before its code is compiled. */
const BEST_COMMANDS = 1_000_000;
/** redis-benchmark does not warm up; it gets enough that its start does not count. */
const REFERENCE_COMMANDS = 3_000_000;
const WARM_UP = 0.5;
/** redis-benchmark has 50 connections with a pipeline each; one connection needs fewer to be kept busy. */
const CHUNKS_IN_FLIGHT = 8;

/** One measurement a library, so that the two trials of a comparison are neighbours in time. */
const pairs: readonly Measurement[] = libraryNames.map((library) => ({
  name: `pipeline-${library}`,
  sides: { weir: pairSide(library, 'weir'), bare: pairSide(library, 'bare') },
  lines: [
    {
      name: `pipeline-${library}-vs-bare-client`,
      item: 'g',
      figure: 'messagesPerSecond',
      side: 'weir',
      baseline: 'bare',
      target: 0.9,
      better: 'higher',
      conditions: `SET of a key of its own for each message, pipelines of ${DEPTH}, one after the other on one connection; both look at each reply`,
    },
  ],
}));

const best: Measurement = {
  name: 'pipeline-best',
  sides: {
    ...Object.fromEntries(libraryNames.map((library) => [library, bestSide(library)])),
    'redis-benchmark': {
      label: `redis-benchmark -P ${DEPTH} -t set`,
      messages: REFERENCE_COMMANDS,
      play: async ({ redisUrl }, commands) => ({
        messagesPerSecond: await runRedisBenchmark(redisUrl, { commands, depth: DEPTH }),
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
      bodyBytes: 3,
      conditions: `SET of one key, ${CHUNKS_IN_FLIGHT} pipelines of ${DEPTH} in flight on one connection, the client with the highest median of ${libraryNames.join(', ')}; redis-benchmark has its default of 50 connections`,
    },
  ],
};

export const pipelines: readonly Measurement[] = [...pairs, best];

function pairSide(library: LibraryName, way: PipelinerSettings['way']): Side {
  return {
    label: way === 'weir' ? `weir pipeline over ${library}` : `bare ${library} pipeline`,
    messages: COMMANDS,
    play: (trial, commands) =>
      play(
        trial,
        { library, way, url: trial.redisUrl, depth: DEPTH, chunksInFlight: 1, keys: 'one-each' },
        commands,
      ),
  };
}

function bestSide(library: LibraryName): Side {
  const chunksInFlight = CHUNKS_IN_FLIGHT;
  return {
    label: `weir pipeline over ${library}`,
    messages: BEST_COMMANDS,
    play: (trial, commands) =>
      play(
        trial,
        { library, way: 'weir', url: trial.redisUrl, depth: DEPTH, chunksInFlight, keys: 'one-for-all' },
        commands,
      ),
  };
}

async function play(trial: Trial, settings: PipelinerSettings, commands: number): Promise<Figures> {
  const warmUp = Math.round(commands * WARM_UP);
  const pipeliner = await trial.startProcess<PipelinerApi>('bench', 'pipeliner');
  await pipeliner.call('prepare', settings);
  const before = await pipeliner.call('inRedis', undefined);
  await pipeliner.call('set', { from: 0, count: warmUp });
  const sent = await pipeliner.call('set', { from: warmUp, count: commands });
  const after = await pipeliner.call('inRedis', undefined);
  const keys = settings.keys === 'one-each' ? warmUp + commands : 1;
  if (after.keys !== keys || after.sets - before.sets !== warmUp + commands) {
    throw new Error(
      `the trial is void: ${warmUp + commands} SETs of ${keys} keys were sent, Redis counted ${after.sets - before.sets} and holds ${after.keys} keys`,
    );
  }
  return {
    messagesPerSecond: (commands * NANOSECONDS_PER_SECOND) / (sent.lastAcknowledgedNs - sent.firstSendNs),
  };
}
