import { NotConnectedError, RedisReplyError, UnknownOutcomeError } from '../../errors.js';
import type { CommandOutcome, RedisCommand, RedisReply } from '../redis-client.js';

/**
 * One socket as a client library sees it, from the moment it is usable until it is lost. A wire never reconnects
 * and never retries: `ManagedConnection` replaces it. Each adapter is a way to make wires, nothing more.
 */
export interface Wire {
  readonly isReady: boolean;
  /**
   * Writes the commands at once, in order, and calls `settle` exactly once for each, whenever its fate is known.
   * Never throws.
   */
  write(commands: readonly RedisCommand[], settle: Settle): void;
  /** Subscribes this wire; resolves when Redis has confirmed. */
  subscribe(channel: string, onMessage: (body: Buffer) => void): Promise<void>;
  /** Resolves when Redis has confirmed; all that was published before has been delivered by then. */
  unsubscribe(channel: string): Promise<void>;
  /** Closes the socket without waiting. Whatever is still due becomes `unknown`. Idempotent. */
  destroy(): void;
}

export type Settle = (index: number, outcome: CommandOutcome) => void;

/** Opens a wire of its own; `onLost` is called at most once, when the socket is gone and was not destroyed by us. */
export type OpenWire = (name: string, onLost: (error: Error | undefined) => void) => Promise<Wire>;

/**
 * Writes commands and waits for all their fates, at most `deadlineMs`. One timer per call, however many
 * commands: a timer per command would cost more than the command.
 *
 * @param breakers while the call waits it has an entry here; calling it turns what is still due into `unknown`.
 *   For libraries that keep unanswered commands for a silent retry on the next connection.
 */
export function exchange(
  wire: Wire,
  commands: readonly RedisCommand[],
  deadlineMs: number,
  breakers?: Set<(cause: Error) => void>,
): Promise<CommandOutcome[]> {
  if (commands.length === 0) return Promise.resolve([]);
  if (!wire.isReady) return Promise.resolve(notSent(commands));
  return new Promise((resolve) => {
    const outcomes = new Array<CommandOutcome | undefined>(commands.length);
    let due = commands.length;
    let open = true;

    const finish = (): void => {
      open = false;
      clearTimeout(timer);
      breakers?.delete(giveUp);
      resolve(outcomes.map((outcome, index) => outcome ?? unknown(commands[index], undefined)));
    };
    const giveUp = (cause: Error): void => {
      for (let index = 0; index < outcomes.length; index++) {
        outcomes[index] ??= unknown(commands[index], cause);
      }
      finish();
    };
    const timer = setTimeout(() => giveUp(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
    breakers?.add(giveUp);

    wire.write(commands, (index, outcome) => {
      if (!open || outcomes[index] !== undefined) return;
      outcomes[index] = outcome;
      if (--due === 0) finish();
    });
  });
}

/** How long connecting may take, greeting included, in milliseconds. */
const CONNECT_WITHIN_MS = 5000;

/**
 * The libraries limit the TCP handshake, but wait for ever on a peer that accepts and then says nothing; destroying
 * the client makes their `connect` reject.
 */
export async function connectOrDestroy(connecting: Promise<unknown>, destroy: () => void): Promise<void> {
  const timer = setTimeout(destroy, CONNECT_WITHIN_MS);
  try {
    await connecting;
  } finally {
    clearTimeout(timer);
  }
}

/** The reply of a single command, or what `RedisConnection.send` promises to throw. */
export function replyOf(outcome: CommandOutcome | undefined): RedisReply {
  if (outcome === undefined) throw new UnknownOutcomeError('command');
  if (outcome.state === 'ok') return outcome.reply;
  throw outcome.error;
}

/** Outcomes of commands that never left: no effect, so `error`. */
export function notSent(commands: readonly RedisCommand[], cause?: Error): CommandOutcome[] {
  return commands.map((command) => ({
    state: 'error',
    error: new NotConnectedError(nameOf(command), cause === undefined ? {} : { cause }),
  }));
}

/** `XADD redis:stream:group`: enough to find the place, never the body. */
export function nameOf(command: RedisCommand | undefined): string {
  const [name, key] = command ?? [];
  return typeof key === 'string' && key.length <= 200 ? `${String(name)} ${key}` : String(name);
}

/** What the libraries say when a command was refused before it was written. */
const NOTHING_WRITTEN = new Set([
  'The client is closed',
  'The client is offline',
  'The queue is full',
  "Stream isn't writeable and enableOfflineQueue options is false",
]);

/**
 * Sorts what a library rejected with into the three outcomes. An error reply is known by its first word, which
 * Redis writes in capitals (`ERR`, `WRONGTYPE`); class names do not survive a minifier, and importing the
 * classes would make the library a dependency.
 */
export function failureOf(command: RedisCommand | undefined, reason: unknown): CommandOutcome {
  const error = reason instanceof Error ? reason : new Error(String(reason));
  if (NOTHING_WRITTEN.has(error.message)) {
    return { state: 'error', error: new NotConnectedError(nameOf(command), { cause: error }) };
  }
  if (/^[A-Z][A-Z0-9_]+( |$)/.test(error.message) && !('syscall' in error)) {
    return { state: 'error', error: new RedisReplyError(error.message, { cause: error }) };
  }
  return unknown(command, error);
}

function unknown(command: RedisCommand | undefined, cause: Error | undefined): CommandOutcome {
  return {
    state: 'unknown',
    error: new UnknownOutcomeError(nameOf(command), cause === undefined ? {} : { cause }),
  };
}
