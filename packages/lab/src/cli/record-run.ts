import type { EventEmitter } from 'node:events';
import type { ResultsStore } from '../results/results-store.js';
import type { RunnerEvents } from '../runner/events.js';

export interface Recording {
  /**
   * Resolves when all that happened is stored.
   * @throws {WeirError} CANNOT_WRITE, the first that occurred; what came later was not stored either
   */
  done(): Promise<void>;
}

/**
 * Stores a run while it is made, trial by trial, so that nothing that was measured is lost when it ends early. The
 * runner does not wait for the store: events are taken down in their order, one write at a time.
 *
 * @param onFailure told at once when something cannot be stored; the run goes on
 */
export function recordRun(
  runner: EventEmitter<RunnerEvents>,
  experiment: string,
  store: ResultsStore,
  onFailure: (error: unknown) => void,
): Recording {
  let writes = Promise.resolve();
  let hasFailed = false;
  let runId = '';
  const enqueue = (write: () => Promise<void>) => {
    // A failure stays in the chain, for `done`: what comes after it is not written.
    writes = writes.then(write);
    writes.catch((error: unknown) => {
      if (!hasFailed) onFailure(error);
      hasFailed = true;
    });
  };

  runner.once('planned', ({ plan }) => {
    runner.once('started', ({ runId: id, environment, startedAt }) => {
      runId = id;
      enqueue(() => store.begin({ id, experiment, startedAt, plan, environment }));
    });
  });
  runner.on('trial-finished', ({ trial }) => enqueue(() => store.addTrial(runId, trial)));
  runner.once('finished', ({ result }) => enqueue(() => store.finish(result)));
  return { done: () => writes };
}
