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
  let runId = '';
  const enqueue = (write: () => Promise<void>) => {
    writes = writes.then(write);
    // The failure is kept in `writes` for `done`; here it is only told, once.
    return writes;
  };
  const first = (error: unknown) => {
    if (!hasFailed) onFailure(error);
    hasFailed = true;
  };
  let hasFailed = false;

  runner.once('planned', ({ plan }) => {
    runner.once('started', ({ runId: id, environment, startedAt }) => {
      runId = id;
      enqueue(() => store.begin({ id, experiment, startedAt, plan, environment })).catch(first);
    });
  });
  runner.on('trial-finished', ({ trial }) => void enqueue(() => store.addTrial(runId, trial)).catch(first));
  runner.once('finished', ({ result }) => void enqueue(() => store.finish(result)).catch(first));
  return { done: () => writes };
}
