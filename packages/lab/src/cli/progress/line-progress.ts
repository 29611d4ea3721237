import type { EventEmitter } from 'node:events';
import type { CompletedTrial, Guarantee, Trial } from '../../measure/result.js';
import { formatQuantity, plural } from '../../reporters/text/figures.js';
import type { RunnerEvents } from '../../runner/events.js';
import { redactUrls } from '../errors.js';
import { formatDuration } from '../format-duration.js';
import type { ProgressDisplay } from './progress.js';
import { TimeLeft } from './time-left.js';

/** For logs: one line per trial, complete in itself, nothing redrawn. */
export function showLines(
  runner: EventEmitter<RunnerEvents>,
  stream: NodeJS.WritableStream,
): ProgressDisplay {
  let timeLeft = new TimeLeft(0);
  const say = (message: string) => void stream.write(redactUrls(`${message}\n`));
  const onPlanned = ({ plan, estimateMs }: RunnerEvents['planned'][0]) => {
    timeLeft = new TimeLeft(estimateMs);
    const trials = plan.order.reduce((sum, round) => sum + round.length, 0);
    say(
      `${plural(trials, 'trial')} in ${plural(plan.rounds, 'round')}, about ${formatDuration(estimateMs)}; seed ${plan.seed}`,
    );
  };
  const onFinished = ({ trial, index, of }: RunnerEvents['trial-finished'][0]) => {
    const finished = index + 1;
    timeLeft.finish(finished, of);
    const left = finished < of ? `, ${formatDuration(timeLeft.milliseconds())} left` : '';
    say(
      `[${String(finished).padStart(String(of).length)}/${of}] round ${trial.round}  ${trialLine(trial)}${left}`,
    );
  };
  const onWarning = ({ message }: RunnerEvents['warning'][0]) => say(`weir: warning: ${message}`);
  runner.on('planned', onPlanned).on('trial-finished', onFinished).on('warning', onWarning);
  return {
    say: (message) => say(`weir: ${message}`),
    stop: () =>
      void runner.off('planned', onPlanned).off('trial-finished', onFinished).off('warning', onWarning),
  };
}

/** `queue batch=100: 48,200 msg/s, lost 0`; where a guarantee is judged, `queue fault=poison: kept, lost 1`. */
export function trialLine(trial: Trial): string {
  if (trial.state === 'failed') return `${trial.variant}: failed: ${trial.error.split('\n', 1)[0] ?? ''}`;
  const measured = trial.guarantee === undefined ? figureOf(trial) : guaranteeOf(trial.guarantee);
  const failed = trial.validity.filter((check) => check.status === 'fail').map((check) => check.id);
  const state = trial.state === 'invalid' ? `, left out: ${failed.join(', ')}` : '';
  return `${trial.variant}: ${measured}, lost ${trial.ledger.lost}${state}`;
}

function figureOf({ metrics }: CompletedTrial): string {
  const [figure] = Object.values(metrics);
  return figure === undefined ? 'no figure' : `${formatQuantity(figure.value, figure.unit)} ${figure.unit}`;
}

function guaranteeOf({ state, broken }: Guarantee): string {
  return state === 'kept' ? 'kept' : `BROKEN: ${broken.join('; ')}`;
}
