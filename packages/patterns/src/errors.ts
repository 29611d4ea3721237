/**
 * Every error the building blocks raise. `code` is stable and may be tested for; `message` says what came in and
 * what would be right; `cause` is what the client library or the handler threw.
 */
export type PatternErrorCode =
  | 'INVALID_OPTION'
  | 'CLOSED'
  | 'ALREADY_STARTED'
  | 'NOT_STARTED'
  | 'NOT_CONNECTED'
  | 'UNKNOWN_OUTCOME'
  | 'REDIS_REPLY'
  | 'FOREIGN_KEY'
  | 'UNSUPPORTED_SERVER'
  | 'LENGTH_CAP'
  | 'BODY_TOO_LARGE'
  | 'SEND_INCOMPLETE';

export class PatternError extends Error {
  readonly code: PatternErrorCode;

  constructor(code: PatternErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** An option with a value that cannot be. The message names option, value and what would be right. */
export class InvalidOptionError extends PatternError {
  constructor(option: string, received: unknown, expected: string) {
    super('INVALID_OPTION', `${option} is ${JSON.stringify(received)}; it must be ${expected}`);
  }
}

/** The connection was down and the command was not sent: it had no effect. */
export class NotConnectedError extends PatternError {
  constructor(what: string, options?: ErrorOptions) {
    super('NOT_CONNECTED', `${what}: not connected to Redis, nothing was sent`, options);
  }
}

/** The command was written and no answer came: it may have had its effect. */
export class UnknownOutcomeError extends PatternError {
  constructor(what: string, options?: ErrorOptions) {
    super('UNKNOWN_OUTCOME', `${what}: no answer from Redis; it may have been carried out`, options);
  }
}

/** Kinds of error reply that a pattern answers differently. `other` is everything else. */
export type RedisReplyKind =
  | 'LOADING'
  | 'READONLY'
  | 'MISCONF'
  | 'OOM'
  | 'BUSY'
  | 'NOGROUP'
  | 'BUSYGROUP'
  | 'UNBLOCKED'
  | 'WRONGTYPE'
  | 'NOSCRIPT'
  | 'MASTERDOWN'
  | 'NOPERM'
  | 'NOAUTH'
  | 'other';

const KINDS: ReadonlySet<string> = new Set<RedisReplyKind>([
  'LOADING',
  'READONLY',
  'MISCONF',
  'OOM',
  'BUSY',
  'NOGROUP',
  'BUSYGROUP',
  'UNBLOCKED',
  'WRONGTYPE',
  'NOSCRIPT',
  'MASTERDOWN',
  'NOPERM',
  'NOAUTH',
]);

/** Redis answered with an error: the command had no effect. `kind` is the first word of the reply. */
export class RedisReplyError extends PatternError {
  readonly kind: RedisReplyKind;

  constructor(message: string, options?: ErrorOptions) {
    super('REDIS_REPLY', message, options);
    const word = message.slice(0, message.indexOf(' ') === -1 ? message.length : message.indexOf(' '));
    this.kind = KINDS.has(word) ? (word as RedisReplyKind) : 'other';
  }
}

/** What became of one body that was not acknowledged. `index` is its place in the `bodies` of that send. */
export interface SendFailure {
  readonly index: number;
  /** `failed`: it is not in Redis. `unknown`: it may be. */
  readonly state: 'failed' | 'unknown';
  readonly error: Error;
}

/** Some bodies of a send were not acknowledged. Those not named in `failures` were. */
export class SendError extends PatternError {
  readonly acknowledged: number;
  readonly failures: readonly SendFailure[];

  constructor(acknowledged: number, failures: readonly SendFailure[]) {
    const unknown = failures.filter((failure) => failure.state === 'unknown').length;
    super(
      'SEND_INCOMPLETE',
      `${acknowledged} of ${acknowledged + failures.length} messages were acknowledged, ` +
        `${failures.length - unknown} failed, ${unknown} unknown: ${failures[0]?.error.message ?? ''}`,
      { cause: failures[0]?.error },
    );
    this.acknowledged = acknowledged;
    this.failures = failures;
  }
}
