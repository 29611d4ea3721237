/**
 * When what a consumer owns may have passed to another one: one clock for all of it.
 *
 * The lease of an entry is its idle time at the server: another consumer takes it over once that reaches `leaseMs`.
 * XACK does not ask who owns the entry, so a consumer that was stopped for longer (SIGSTOP, a virtual machine that was
 * moved, a collection of garbage) would acknowledge what somebody else is working on. A script that asks first costs
 * the server more than the XACK itself, too much for every batch. So the consumer asks its own clock first:
 *
 *     read is written   server gives the entries     now         a takeover is possible
 *          |--------------------|---------------------|-------------------|
 *        since            idle time is 0           now - since     idle time = leaseMs
 *
 * `since` is taken before the command is written that gives or renews, so it lies before the moment at which the idle
 * time began. While less than half of the lease has passed since then, an acknowledgement that is written now has the
 * other half to arrive, and is sent as plain XACK. After that it goes the fenced way (ACKNOWLEDGE_OWN).
 *
 * What remains: a process stopped between this question and the write, or a network that holds the command back for
 * half a lease, or a machine that was asleep (its monotonic clock stands still). Then an entry that passed to another
 * consumer is acknowledged by its former one. Nothing is lost by it, because only what was handled is acknowledged; the
 * other one handles it a second time, as it would have anyway, and its own acknowledgement changes nothing.
 */
export class Lease {
  readonly #ms: number;
  /** Everything owned was given or renewed at this time or later, by `performance.now()`. */
  #since = Number.NEGATIVE_INFINITY;
  /** Earliest `sentAt` of what was given since the renewal that is under way began. */
  #givenMeanwhile = Number.POSITIVE_INFINITY;

  /** @param ms the `leaseMs` of the consumer */
  constructor(ms: number) {
    this.#ms = ms;
  }

  /**
   * Entries came.
   * @param sentAt when the command that gave them was written
   * @param isAll nothing else is owned
   */
  given(sentAt: number, isAll: boolean): void {
    this.#since = isAll ? sentAt : Math.min(this.#since, sentAt);
    this.#givenMeanwhile = Math.min(this.#givenMeanwhile, sentAt);
  }

  /** A renewal of everything owned is about to be written. */
  renewalBegins(): void {
    this.#givenMeanwhile = Number.POSITIVE_INFINITY;
  }

  /** It succeeded. What a read gave while it was under way was not part of it. */
  renewed(sentAt: number): void {
    this.#since = Math.min(sentAt, this.#givenMeanwhile);
  }

  isDueForRenewal(now: number): boolean {
    return now - this.#since >= this.#ms / 4;
  }

  /** From here on only the server can say whether what we own is still ours. */
  isInDoubt(now: number): boolean {
    return now - this.#since >= this.#ms / 2;
  }
}
