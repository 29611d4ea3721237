import type { EventEmitter } from 'node:events';
import type { RunnerEvents } from '../../runner/events.js';
import { wantsColor } from '../output.js';
import { showLines } from './line-progress.js';
import { showTerminal } from './terminal-progress.js';

export interface ProgressDisplay {
  /** A message that stays, above what moves. */
  say(message: string): void;
  /** Leaves the terminal as it was; the display says nothing more. */
  stop(): void;
}

/** Shows what a runner does: redrawn on a terminal, one line per trial where there is none. */
export function showProgress(
  runner: EventEmitter<RunnerEvents>,
  stream: NodeJS.WriteStream = process.stderr,
): ProgressDisplay {
  // Some pseudo-terminals (CI, `script` without a terminal) have no size: nothing can be redrawn there.
  const canRedraw = stream.isTTY === true && stream.columns > 0 && stream.rows > 0;
  return canRedraw && process.env.TERM !== 'dumb'
    ? showTerminal(runner, stream, wantsColor(stream))
    : showLines(runner, stream);
}
