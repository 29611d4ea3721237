import { compareIds, type StreamInfo } from './streams.js';

/**
 * Counts entries that were trimmed before a reader with an offset of its own came to them.
 *
 * Redis counts every entry ever added. Of those added since the reader began, each was read by it, is still ahead
 * of it, or is gone:
 *
 *     gone = (added now - added at the start) - read - ahead
 *
 * `ahead` is the length of the stream once its oldest entry is beyond the offset, and only then can something be
 * missing: trimming removes from the old end.
 */
export class TrimWatch {
  /** Entries added before the reader began, plus those already counted as gone. `undefined`: Redis cannot say. */
  #before: number | undefined;
  #read = 0;

  /** @param ahead how many entries that are there now the reader will come to */
  constructor(info: StreamInfo, ahead: number) {
    this.restart(info, ahead);
  }

  /** Begins anew, for a stream that lost its past (restored from a backup, or empty after a restart). */
  restart(info: StreamInfo, ahead: number): void {
    this.#before = info.entriesAdded === undefined ? undefined : info.entriesAdded - ahead;
    this.#read = 0;
  }

  read(count: number): void {
    this.#read += count;
  }

  /** @returns how many entries have been lost to trimming since the last time it was asked. */
  lost(info: StreamInfo, offset: string): number {
    if (this.#before === undefined || info.entriesAdded === undefined) return 0;
    if (info.firstId !== undefined && compareIds(info.firstId, offset) <= 0) return 0;
    const lost = info.entriesAdded - this.#before - this.#read - info.length;
    // Negative: the stream was deleted and begun anew, and its counter with it.
    this.#before += lost;
    return Math.max(lost, 0);
  }
}
