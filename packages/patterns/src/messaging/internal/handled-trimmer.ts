import type { CommandOutcome, RedisClient } from '../../client/redis-client.js';
import { TRIM_HANDLED } from '../../scripts/trim-handled.js';
import { integerOf, textOf } from './streams.js';

/** Messages from one checkpoint to the next: a tenth of what is kept, within these. */
const SHORTEST_STEP = 100;
const LONGEST_STEP = 1000;
/** A trim is tried at most so often, in milliseconds: a fast producer would spend the server's time on it. */
const SHORTEST_INTERVAL_MS = 250;
/** Beyond it every other checkpoint is dropped: a group that is far behind makes the trim coarser, not the list longer. */
const MOST_CHECKPOINTS = 1000;

/** One of our messages. */
interface Checkpoint {
  readonly id: string;
  /** How many of ours were written up to it. */
  readonly number: number;
}

/**
 * Trims what every group has acknowledged while a producer writes (`keepHandled`), after every so many messages. It
 * keeps more than it was told to rather than less: whole checkpoints of this producer, whole nodes of the stream, and
 * what other producers wrote in between. A producer that stops writing stops trimming.
 *
 * Readers without a group (XREAD) are not seen by it: what they have not read can go.
 */
export class HandledTrimmer {
  readonly #client: RedisClient;
  readonly #key: string;
  readonly #keep: number;
  readonly #step: number;
  /** Oldest first. */
  #checkpoints: Checkpoint[] = [];
  #written = 0;
  #tried = { number: 0, at: Number.NEGATIVE_INFINITY };
  #isUnderWay = false;

  /** @param keep how many handled entries stay, at least */
  constructor(client: RedisClient, key: string, keep: number) {
    this.#client = client;
    this.#key = key;
    this.#keep = keep;
    this.#step = Math.min(Math.max(Math.ceil(keep / 10), SHORTEST_STEP), LONGEST_STEP);
  }

  /** @param outcomes of XADDs, in order; those of other commands do not answer with an id */
  saw(outcomes: readonly CommandOutcome[]): void {
    for (const outcome of outcomes) {
      if (outcome.state !== 'ok' || !Buffer.isBuffer(outcome.reply)) continue;
      const number = this.#written++;
      if (number % this.#step === 0) this.#checkpoints.push({ id: textOf(outcome.reply), number });
    }
    if (this.#checkpoints.length <= MOST_CHECKPOINTS) return;
    this.#checkpoints = this.#checkpoints.filter((_checkpoint, index) => index % 2 === 0);
  }

  get isDue(): boolean {
    if (this.#isUnderWay || this.#written - this.#tried.number < this.#step) return false;
    return performance.now() - this.#tried.at >= SHORTEST_INTERVAL_MS;
  }

  /** Never rejects: a send has succeeded whether or not its stream could be trimmed, and the next trim makes up for it. */
  async trim(): Promise<void> {
    this.#isUnderWay = true;
    this.#tried = { number: this.#written, at: performance.now() };
    const newestFirst = this.#checkpoints.toReversed();
    const pairs = newestFirst.flatMap(({ id, number }) => [id, String(number)]);
    const [outcome] = await this.#client.sendMany([
      ['EVAL', TRIM_HANDLED, '1', this.#key, String(this.#keep), ...pairs],
    ]);
    const place = outcome?.state === 'ok' ? integerOf(outcome.reply) : 0;
    const trimmedTo = newestFirst[place - 1];
    if (trimmedTo !== undefined) {
      this.#checkpoints = this.#checkpoints.filter(({ number }) => number >= trimmedTo.number);
    }
    this.#isUnderWay = false;
  }
}
