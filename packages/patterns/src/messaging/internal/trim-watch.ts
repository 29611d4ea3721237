import { compareIds, type StreamInfo } from './streams.js';

/**
 * Counts entries that were trimmed before a reader with an offset of its own came to them.
 *
 * Redis counts every entry ever added. Of those added since the reader began, each was read by it, is still ahead
 * of it, or is gone:
 *
 *     gone = (added now - added at the start) - read - ahead
 *
 * `ahead` is known at two moments: it is the whole length while the oldest entry lies beyond the offset (which is
 * so right after a trim that hurt), and nothing once the reader has caught up.
 */
export class TrimWatch {
  /** Entries added before the reader began, plus those already counted as gone. `undefined`: Redis cannot say. */
  #before: number | undefined;
  #read = 0;

  /** @param ahead how many entries that are there now the reader will come to */
  constructor(info: StreamInfo, ahead: number) {
    this.#before = info.entriesAdded === undefined ? undefined : info.entriesAdded - ahead;
  }

  read(count: number): void {
    this.#read += count;
  }

  /** @returns how many entries have been lost to trimming since the last time it was asked. */
  lost(info: StreamInfo, offset: string): number {
    if (this.#before === undefined || info.entriesAdded === undefined) return 0;
    const ahead = aheadOf(info, offset);
    if (ahead === undefined) return 0;
    const lost = info.entriesAdded - this.#before - this.#read - ahead;
    // Negative: the stream was deleted and begun anew, and its counter with it.
    this.#before += lost;
    return Math.max(lost, 0);
  }
}

/** How many entries come after the offset; `undefined` where counting would mean reading them. */
function aheadOf(info: StreamInfo, offset: string): number | undefined {
  if (compareIds(info.lastGeneratedId, offset) <= 0) return 0;
  if (info.firstId === undefined || compareIds(info.firstId, offset) > 0) return info.length;
  return undefined;
}
