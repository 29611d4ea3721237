import { NotConnectedError, RedisReplyError, UnknownOutcomeError } from '../../errors.js';
import type { CommandOutcome, RedisCommand, RedisReply } from '../redis-client.js';
import { type RawReply, replyFrom } from './replies.js';

/**
 * One socket as a client library sees it, from the moment it is usable until it is lost. A wire never reconnects
 * and never retries: `ManagedConnection` replaces it. Each adapter is a way to make wires, nothing more.
 */
export interface Wire {
  readonly isReady: boolean;
  /** Writes the commands at once, in order. */
  write(commands: readonly RedisCommand[]): Due;
  /** Subscribes this wire; resolves when Redis has confirmed. */
  subscribe(channel: Channel, onMessage: (body: Buffer) => void): Promise<void>;
  /** Resolves when Redis has confirmed; all that was published before has been delivered by then. */
  unsubscribe(channel: Channel): Promise<void>;
  /** Closes the socket without waiting. Whatever is still due becomes `unknown`. Idempotent. */
  destroy(): void;
}

/** What a wire subscribes to. */
export interface Channel {
  readonly name: string;
  /** By SSUBSCRIBE. */
  readonly sharded: boolean;
}

/**
 * What Redis owes for one write, as the library tells of it. Whatever an `Error` or a rejection says, it says in the
 * library's words; `failureOf` sorts it.
 */
export type Due =
  /** One promise for each command, settled as its answer comes: what came before a loss is known. */
  | {
      readonly state: 'each';
      readonly replies: readonly Promise<RawReply>[];
      /**
       * For libraries whose replies have to be looked at with the command in hand. It is called when all are there:
       * chained to each promise it would cost another promise and a closure for each command.
       * What it throws leaves the command `unknown`.
       */
      readonly read?: Read;
    }
  /**
   * One promise for all of them, with an `Error` in the place of a reply that is none. It rejects when the one answer
   * does not come, and then nothing is known of any. For libraries that hand replies over together.
   */
  | { readonly state: 'together'; readonly replies: Promise<readonly (RawReply | Error)[]> };

type Read = (command: RedisCommand, reply: RawReply) => RawReply;

/** Opens a wire of its own; `onLost` is called at most once, when the socket is gone and was not destroyed by us. */
export type OpenWire = (name: string, onLost: (error: Error | undefined) => void) => Promise<Wire>;

/**
 * Writes commands and waits for all their fates, at most `deadlineMs`.
 *
 * Made for the usual case, that all succeed: one timer per call and one `Promise.all`; a timer, a handler or a
 * closure per command would cost more than the command. Only when one fails or the time is up are they looked at
 * one by one.
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
  const due = wire.write(commands);
  return new Promise((resolve) => {
    const finish = (outcomes: CommandOutcome[]): void => {
      clearTimeout(timer);
      breakers?.delete(giveUp);
      resolve(outcomes);
    };
    const giveUp = (cause: Error): void => {
      settledSoFar(commands, due, cause).then(finish);
    };
    const timer = setTimeout(() => giveUp(new Error(`no answer within ${deadlineMs} ms`)), deadlineMs);
    breakers?.add(giveUp);
    allSettled(commands, due).then(finish);
  });
}

function allSettled(commands: readonly RedisCommand[], due: Due): Promise<CommandOutcome[]> {
  if (due.state === 'together') {
    return due.replies.then(
      (replies) => commands.map((command, index) => outcomeOf(command, replies[index])),
      (reason) => commands.map((command) => failureOf(command, reason)),
    );
  }
  const { replies, read } = due;
  return Promise.all(replies).then(
    (raws) => commands.map((command, index) => outcomeOf(command, raws[index], read)),
    // An error of one does not hide the others.
    () => Promise.all(commands.map((command, index) => settled(command, replies[index], read))),
  );
}

async function settled(
  command: RedisCommand,
  reply: Promise<RawReply> | undefined,
  read: Read | undefined,
): Promise<CommandOutcome> {
  try {
    return outcomeOf(command, await reply, read);
  } catch (reason) {
    return failureOf(command, reason);
  }
}

const PENDING: unique symbol = Symbol('pending');

/** The fates that are known now; the others are unknown. */
async function settledSoFar(
  commands: readonly RedisCommand[],
  due: Due,
  cause: Error,
): Promise<CommandOutcome[]> {
  // Queued behind what has already settled, so it wins only against what has not.
  const pending = new Promise<typeof PENDING>((resolve) => setImmediate(resolve, PENDING));
  if (due.state === 'together') {
    const outcomes = await Promise.race([allSettled(commands, due), pending]);
    return outcomes === PENDING ? commands.map((command) => unknown(command, cause)) : outcomes;
  }
  return Promise.all(
    commands.map(async (command, index) => {
      const outcome = await Promise.race([settled(command, due.replies[index], due.read), pending]);
      return outcome === PENDING ? unknown(command, cause) : outcome;
    }),
  );
}

/** Shared by all that were answered so, which most writes are: an object for each would only be collected again. */
const OK: CommandOutcome = Object.freeze({ state: 'ok', reply: 'OK' });

function outcomeOf(command: RedisCommand, answer: RawReply | Error, read?: Read): CommandOutcome {
  try {
    if (answer instanceof Error) return failureOf(command, answer);
    const raw = read === undefined ? answer : read(command, answer);
    return raw === 'OK' ? OK : { state: 'ok', reply: replyFrom(command, raw) };
  } catch (unusable) {
    return failureOf(command, unusable);
  }
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
