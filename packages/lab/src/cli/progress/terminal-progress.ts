import type { EventEmitter } from 'node:events';
import { styleText } from 'node:util';
import { createLogUpdate } from 'log-update';
import { significant } from '../../core/units.js';
import { plural } from '../../reporters/text/figures.js';
import type { RunnerEvents } from '../../runner/events.js';
import { redactUrls } from '../errors.js';
import { formatDuration } from '../format-duration.js';
import { trialLine } from './line-progress.js';
import type { ProgressDisplay } from './progress.js';
import { TimeLeft } from './time-left.js';

/** For people who watch: two lines that are redrawn. Trials that were left out or failed stay above them. */
export function showTerminal(
  runner: EventEmitter<RunnerEvents>,
  stream: NodeJS.WriteStream,
  color: boolean,
): ProgressDisplay {
  const logUpdate = createLogUpdate(stream);
  const paint = (format: Parameters<typeof styleText>[0], text: string) =>
    color ? styleText(format, text, { validateStream: false }) : text;
  let timeLeft = new TimeLeft(0);
  let rounds = 0;
  let current: RunnerEvents['trial-started'][0] | undefined;
  let perSecond = 0;

  const draw = () => {
    if (current === undefined) return;
    const { index, of, round, variant } = current;
    const share = index / of;
    const left = formatDuration(timeLeft.milliseconds());
    const rate = perSecond > 0 ? `${significant(perSecond)} msg/s` : 'starting';
    logUpdate(
      [
        `round ${round} of ${rounds}, trial ${index + 1} of ${of}: ${paint('bold', variant)}  ${rate}`,
        `${paint('cyan', bar(share))} ${Math.floor(share * 100)} %, ${left} left`,
      ].join('\n'),
    );
  };
  const say = (message: string) => logUpdate.persist(redactUrls(message));

  const listeners = {
    planned: ({ plan, estimateMs }: RunnerEvents['planned'][0]) => {
      timeLeft = new TimeLeft(estimateMs);
      rounds = plan.rounds;
      say(
        paint(
          'dim',
          `${plural(plan.rounds, 'round')}, about ${formatDuration(estimateMs)}; seed ${plan.seed}`,
        ),
      );
    },
    started: (event: RunnerEvents['trial-started'][0]) => {
      current = event;
      perSecond = 0;
      draw();
    },
    progress: (event: RunnerEvents['trial-progress'][0]) => {
      perSecond = event.perSecond;
      draw();
    },
    finished: ({ trial, index, of }: RunnerEvents['trial-finished'][0]) => {
      timeLeft.finish(index + 1, of);
      if (trial.state !== 'measured') say(paint('yellow', `round ${trial.round}  ${trialLine(trial)}`));
      draw();
    },
    warning: ({ message }: RunnerEvents['warning'][0]) =>
      say(`${paint('yellow', 'weir: warning:')} ${message}`),
  };
  runner
    .on('planned', listeners.planned)
    .on('trial-started', listeners.started)
    .on('trial-progress', listeners.progress)
    .on('trial-finished', listeners.finished)
    .on('warning', listeners.warning);

  return {
    say: (message) => say(`weir: ${message}`),
    stop() {
      runner
        .off('planned', listeners.planned)
        .off('trial-started', listeners.started)
        .off('trial-progress', listeners.progress)
        .off('trial-finished', listeners.finished)
        .off('warning', listeners.warning);
      logUpdate.clear();
      logUpdate.done();
    },
  };
}

const BAR_WIDTH = 30;

/** @param share from 0 to 1 */
export function bar(share: number): string {
  const full = Math.floor(Math.min(1, Math.max(0, share)) * BAR_WIDTH);
  return '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full);
}
