/**
 * How the runner and a worker process talk: the runner calls or tells, the worker answers or emits events. All of
 * it is data that survives structured cloning. This file is the worker's half; `fleet/` holds the other.
 */

/** What travels to a worker. */
export type ToWorker =
  | { readonly type: 'call'; readonly id: number; readonly name: string; readonly parameters: unknown }
  | { readonly type: 'tell'; readonly name: string; readonly parameters: unknown }
  | { readonly type: 'stop' };

/** What travels back. */
export type FromWorker =
  | { readonly type: 'ready' }
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failure'; readonly id: number; readonly error: WorkerFailure }
  | { readonly type: 'event'; readonly name: string; readonly data: unknown };

/** An error, flattened for the journey. */
export interface WorkerFailure {
  readonly name: string;
  readonly message: string;
  readonly code: string | undefined;
  readonly stack: string | undefined;
}

/** The functions a worker offers, by name; each takes one parameter. */
export type WorkerApi = Readonly<Record<string, (parameters: never) => unknown>>;

/**
 * Sends an event to the runner. Resolves when the system has taken it: from then on it arrives, also when this process
 * is killed in the next moment.
 */
export type Emit = (name: string, data: unknown) => Promise<void>;

/**
 * Offers `makeApi`'s functions to the runner and says it is ready. The process ends when the runner asks for it
 * or goes away, so no worker outlives its runner. Ctrl-C in a terminal reaches every process of the group; the
 * runner decides what it means, so workers ignore it.
 */
export function serveWorker(makeApi: (emit: Emit) => WorkerApi): void {
  const post = (message: FromWorker): Promise<void> =>
    new Promise((resolve) => {
      // Where the runner has gone there is nobody left to tell; `disconnect` ends the process.
      if (process.send?.(message, undefined, undefined, () => resolve()) === undefined) resolve();
    });
  const api = makeApi((name, data) => post({ type: 'event', name, data }));
  const invoke = async (name: string, parameters: unknown): Promise<unknown> => {
    const operation = api[name];
    if (operation === undefined)
      throw new Error(`this worker offers ${Object.keys(api).join(', ')}; not ${name}`);
    return operation(parameters as never);
  };

  process.on('SIGINT', () => {});
  process.on('disconnect', () => process.exit(0));
  process.on('message', (message: ToWorker) => {
    if (message.type === 'stop') process.exit(0);
    const outcome = invoke(message.name, message.parameters);
    if (message.type === 'tell') {
      outcome.catch((error: unknown) => post({ type: 'event', name: 'error', data: flatten(error) }));
      return;
    }
    outcome.then(
      (value) => post({ type: 'answer', id: message.id, value }),
      (error: unknown) => post({ type: 'failure', id: message.id, error: flatten(error) }),
    );
  });
  post({ type: 'ready' });
}

function flatten(error: unknown): WorkerFailure {
  const { name, message, stack } = error instanceof Error ? error : new Error(String(error));
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  return { name, message, code, stack };
}
