import { ExitCode, WeirError } from '../core/errors.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interruption {
  /** Aborted by the first Ctrl-C, SIGTERM or SIGHUP; the reason is a WeirError INTERRUPTED. */
  readonly signal: AbortSignal;
  /** Gives the signals back to Node. */
  stop(): void;
}

/**
 * The first signal asks: the trial ends, what was finished is stored and reported. The second one does not ask;
 * servers and workers still end, because they watch over the life of this process.
 *
 * @param announce tells the user that the first signal was understood
 */
export function listenForInterruption(announce: (message: string) => void): Interruption {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(ExitCode.interrupted);
    announce('stopping; finished trials are kept. Once more to end at once.');
    controller.abort(new WeirError('INTERRUPTED', `interrupted by ${name}`));
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return {
    signal: controller.signal,
    stop: () => {
      for (const name of SIGNALS) process.off(name, onSignal);
    },
  };
}
