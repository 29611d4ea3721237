import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { recordRun } from '../../../src/cli/record-run.js';
import { WeirError } from '../../../src/core/errors.js';
import type { ResultsStore } from '../../../src/results/results-store.js';
import type { RunnerEvents } from '../../../src/runner/events.js';
import { resultFixture } from '../../support/result-fixture.js';

/** Writes down what it is asked to store, each a turn of the event loop late. */
function storeFixture(failAt?: string): { readonly store: ResultsStore; readonly written: string[] } {
  const written: string[] = [];
  const write = async (what: string) => {
    await new Promise((resolve) => setImmediate(resolve));
    if (what === failAt) throw new WeirError('CANNOT_WRITE', 'the disk is full');
    written.push(what);
  };
  const unused = () => Promise.reject(new Error('not used here'));
  return {
    written,
    store: {
      begin: ({ id, experiment }) => write(`begin ${experiment} ${id}`),
      addTrial: (runId, trial) => write(`trial ${runId} ${trial.id}`),
      finish: ({ id }) => write(`finish ${id}`),
      get: unused,
      list: unused,
      delete: unused,
      close: unused,
    },
  };
}

function emitRun(runner: EventEmitter<RunnerEvents>): void {
  const { plan, environment, startedAt, trials } = resultFixture();
  runner.emit('planned', { runId: 'r1', plan, estimateMs: 1 });
  runner.emit('started', { runId: 'r1', environment, startedAt });
  for (const [index, trial] of trials.slice(0, 2).entries()) {
    runner.emit('trial-finished', { trial, index, of: 2 });
  }
  runner.emit('finished', { result: resultFixture({ id: 'r1' }) });
}

describe('recording a run', () => {
  it('stores everything in the order it happened', async () => {
    const runner = new EventEmitter<RunnerEvents>();
    const { store, written } = storeFixture();
    const recording = recordRun(runner, 'messaging', store, () => {});
    emitRun(runner);
    await recording.done();
    expect(written).toEqual(['begin messaging r1', 'trial r1 1.1', 'trial r1 1.2', 'finish r1']);
  });

  it('tells a failure once and at once, and again at the end', async () => {
    const runner = new EventEmitter<RunnerEvents>();
    const { store, written } = storeFixture('trial r1 1.1');
    const told: unknown[] = [];
    const recording = recordRun(runner, 'messaging', store, (error) => told.push(error));
    emitRun(runner);
    await expect(recording.done()).rejects.toThrow('the disk is full');
    expect(written).toEqual(['begin messaging r1']);
    expect(told).toHaveLength(1);
  });

  it('stores nothing of a run that never started', async () => {
    const { store, written } = storeFixture();
    await recordRun(new EventEmitter<RunnerEvents>(), 'messaging', store, () => {}).done();
    expect(written).toEqual([]);
  });
});
