import type { RedisClient } from '@weir/patterns';

/**
 * The contract of a client library whose pipeline is measured. It connects once; the bare pipeline and weir's go over
 * that same client, so that what is left between them is weir. Opened in a process that serves one trial and ends
 * with it, so nothing here has to be closed.
 */
export interface PipelineLibrary {
  /** As in tables and details: `ioredis`. */
  readonly name: string;
  open(url: string): Promise<Pipelines>;
}

export interface Pipelines {
  /** The connected client under weir's adapter. */
  readonly redis: RedisClient;
  /**
   * SET for each entry, all in one pipeline of the library, as its documentation shows it.
   * Rejects when Redis did not acknowledge one of them.
   */
  setAll(entries: readonly Entry[]): Promise<void>;
}

export type Entry = readonly [key: string, value: string];
