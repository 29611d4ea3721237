import type { RedisClient } from '@weir/patterns';
import { pipeline } from '@weir/patterns/pipelining/pipeline';
import { type LibraryName, loadLibrary } from '../contenders/pipelines/load-pipelines.js';
import type { Entry } from '../contenders/pipelines/pipelines.js';
import { monotonicNs, serveWorker, type WorkerApi } from '../lab.js';
import type { SendReport } from './api.js';
import { bodies } from './bodies.js';

/** What the bench asks of the process that writes through pipelines: one library, one trial. */
export interface PipelinerApi extends WorkerApi {
  /** Connects. Called once, first. */
  readonly prepare: (settings: PipelinerSettings) => Promise<void>;
  /** Sends the SETs of a range in pipelines; answers when Redis has acknowledged the last. */
  readonly set: (load: PipelineLoad) => Promise<SendReport>;
  /** What Redis says of it. */
  readonly inRedis: (parameters: undefined) => Promise<RedisCounts>;
}

export interface PipelinerSettings {
  readonly library: LibraryName;
  readonly way: 'weir' | 'bare';
  readonly url: string;
  /** Commands in one pipeline. */
  readonly depth: number;
  /** Pipelines that are unanswered at a time. */
  readonly chunksInFlight: number;
  /** A key of its own and 100 bytes for each SET, or the key and the 3 bytes of redis-benchmark for all. */
  readonly keys: 'one-each' | 'one-for-all';
}

export interface PipelineLoad {
  /** Number of the first SET. */
  readonly from: number;
  readonly count: number;
}

export interface RedisCounts {
  readonly keys: number;
  /** SETs carried out since the server started. */
  readonly sets: number;
}

type SetAll = (entries: readonly Entry[]) => Promise<void>;

const THE_ENTRY: Entry = ['key:__rand_int__', 'VXK'];

serveWorker((): PipelinerApi => {
  let prepared:
    | { readonly setAll: SetAll; readonly redis: RedisClient; readonly settings: PipelinerSettings }
    | undefined;

  const ready = (): NonNullable<typeof prepared> => {
    if (prepared === undefined) throw new Error('prepare comes first');
    return prepared;
  };

  return {
    async prepare(settings) {
      const { redis, setAll } = await (await loadLibrary(settings.library)).open(settings.url);
      prepared = {
        redis,
        settings,
        setAll: settings.way === 'bare' ? setAll : throughWeir(redis, settings),
      };
    },
    async set({ from, count }) {
      const { setAll, settings } = ready();
      const { depth, chunksInFlight, keys } = settings;
      const entries: readonly Entry[] =
        keys === 'one-for-all'
          ? Array.from({ length: count }, () => THE_ENTRY)
          : bodies(from, count).map((body, index): Entry => [`key:${from + index}`, body]);
      let next = 0;
      const oneAfterTheOther = async (): Promise<void> => {
        while (next < count) {
          const start = next;
          next += depth;
          await setAll(entries.slice(start, start + depth));
        }
      };
      const firstSendNs = monotonicNs();
      await Promise.all(Array.from({ length: chunksInFlight }, oneAfterTheOther));
      return { firstSendNs, lastAcknowledgedNs: monotonicNs() };
    },
    async inRedis() {
      const { redis } = ready();
      const statistics = String(await redis.send(['INFO', 'commandstats']));
      const [, sets = 0] = /^cmdstat_set:calls=(\d+)/m.exec(statistics) ?? [];
      return { keys: Number(await redis.send(['DBSIZE'])), sets: Number(sets) };
    },
  };
});

/** As a caller of weir's `pipeline` writes it, outcomes looked at. */
function throughWeir(redis: RedisClient, { depth, chunksInFlight }: PipelinerSettings): SetAll {
  const writes = pipeline(redis, { maxCommandsPerChunk: depth, maxChunksInFlight: chunksInFlight });
  return async (entries) => {
    const outcomes = await writes.send(entries.map(([key, value]) => ['SET', key, value]));
    for (const outcome of outcomes) if (outcome.state !== 'ok') throw outcome.error;
  };
}
