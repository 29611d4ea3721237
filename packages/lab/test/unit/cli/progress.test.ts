import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { formatDuration } from '../../../src/cli/format-duration.js';
import { showLines, trialLine } from '../../../src/cli/progress/line-progress.js';
import { bar } from '../../../src/cli/progress/terminal-progress.js';
import { TimeLeft } from '../../../src/cli/progress/time-left.js';
import type { RunnerEvents } from '../../../src/runner/events.js';
import {
  failedTrialFixture,
  invalidTrialFixture,
  planFixture,
  trialFixture,
} from '../../support/result-fixture.js';

describe('progress without a terminal', () => {
  it('is one line per trial, and silence after it was stopped', () => {
    const runner = new EventEmitter<RunnerEvents>();
    const stream = new PassThrough();
    const display = showLines(runner, stream);
    const plan = planFixture({ rounds: 2 });
    runner.emit('planned', { runId: 'r', plan, estimateMs: 75_000 });
    runner.emit('trial-finished', { trial: trialFixture('queue', 1, 1), index: 0, of: 12 });
    runner.emit('warning', { message: 'redis://u:p@h:1 is slow' });
    display.say('stopping');
    display.stop();
    runner.emit('warning', { message: 'too late' });

    const lines = String(stream.read()).trimEnd().split('\n');
    expect(lines).toEqual([
      '12 trials in 2 rounds, about 1 min 15 s; seed 7',
      expect.stringMatching(/^\[ 1\/12\] round 1 {2}queue: 30,000 msg\/s, lost 0, .+ left$/),
      'weir: warning: redis://h:1 is slow',
      'weir: stopping',
    ]);
  });

  it('says why a trial does not count', () => {
    const check = { id: 'undrained', status: 'fail' as const, evidence: '3 left', remedy: '' };
    expect(trialLine(invalidTrialFixture('queue', 1, check))).toMatch(/left out: undrained$/);
    expect(trialLine(failedTrialFixture('queue', 1, 'no answer\n  at x'))).toBe('queue: failed: no answer');
  });
});

describe('time left', () => {
  it('follows the estimate until a trial was made, then the trials', () => {
    let now = 0;
    const timeLeft = new TimeLeft(10_000, () => now);
    now = 4_000;
    expect(timeLeft.milliseconds()).toBe(6_000);
    timeLeft.finish(1, 4);
    expect(timeLeft.milliseconds()).toBe(12_000);
    now = 8_000;
    timeLeft.finish(4, 4);
    expect(timeLeft.milliseconds()).toBe(0);
  });

  it.each([
    [450, '450 ms'],
    [8_000, '8 s'],
    [59_600, '1 min'],
    [80_000, '1 min 20 s'],
    [7_500_000, '2 h 5 min'],
  ])('%d ms is written %s', (milliseconds, written) => {
    expect(formatDuration(milliseconds)).toBe(written);
  });
});

it('the bar is empty at 0 and full at 1, and never longer', () => {
  expect(bar(0)).toMatch(/^░+$/);
  expect(bar(1)).toMatch(/^█+$/);
  expect(bar(7)).toBe(bar(1));
});
