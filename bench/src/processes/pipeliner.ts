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
  /** Sets each key of a range, pipeline after pipeline; answers when Redis has acknowledged the last. */
  readonly set: (load: PipelineLoad) => Promise<SendReport>;
  /** Keys that Redis holds. */
  readonly keys: (parameters: undefined) => Promise<number>;
}

export interface PipelinerSettings {
  readonly library: LibraryName;
  readonly way: 'weir' | 'bare';
  readonly url: string;
  /** Commands in one pipeline. */
  readonly depth: number;
}

export interface PipelineLoad {
  /** Number of the first key. */
  readonly from: number;
  readonly count: number;
}

type SetAll = (entries: readonly Entry[]) => Promise<void>;

serveWorker((): PipelinerApi => {
  let prepared: { readonly setAll: SetAll; readonly redis: RedisClient; readonly depth: number } | undefined;

  const ready = (): NonNullable<typeof prepared> => {
    if (prepared === undefined) throw new Error('prepare comes first');
    return prepared;
  };

  return {
    async prepare({ library, way, url, depth }) {
      const { redis, setAll } = await (await loadLibrary(library)).open(url);
      prepared = { redis, depth, setAll: way === 'bare' ? setAll : throughWeir(redis, depth) };
    },
    async set({ from, count }) {
      const { setAll, depth } = ready();
      const entries = bodies(from, count).map((body, index): Entry => [`key:${from + index}`, body]);
      const firstSendNs = monotonicNs();
      for (let start = 0; start < count; start += depth) await setAll(entries.slice(start, start + depth));
      return { firstSendNs, lastAcknowledgedNs: monotonicNs() };
    },
    keys: async () => Number(await ready().redis.send(['DBSIZE'])),
  };
});

/** As a caller of weir's `pipeline` writes it, outcomes looked at. */
function throughWeir(redis: RedisClient, depth: number): SetAll {
  const writes = pipeline(redis, { maxCommandsPerChunk: depth });
  return async (entries) => {
    const outcomes = await writes.send(entries.map(([key, value]) => ['SET', key, value]));
    for (const outcome of outcomes) if (outcome.state !== 'ok') throw outcome.error;
  };
}
