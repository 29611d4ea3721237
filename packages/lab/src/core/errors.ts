/**
 * The catalogue of everything weir can refuse or fail with. Each error has a stable code, the exit code the
 * command line ends with, a message that names the received value, and what to do next.
 */

/** Exit codes of the command line (sysexits.h where one fits). */
export const ExitCode = {
  done: 0,
  /** `compare` found a regression, or a pattern did not keep the guarantee it declares. */
  regression: 1,
  /** `compare` could not tell. */
  inconclusive: 2,
  /** The run was made and is not valid. */
  invalidRun: 3,
  /** EX_USAGE: unknown or impossible option. */
  usage: 64,
  /** EX_UNAVAILABLE: a server or a program that is needed is missing. */
  unavailable: 69,
  /** EX_SOFTWARE: a defect in weir. */
  software: 70,
  /** EX_CANTCREAT: an output file or folder cannot be written. */
  cannotCreate: 73,
  /** 128 + SIGINT. */
  interrupted: 130,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

const CATALOGUE = {
  USAGE: ExitCode.usage,
  UNKNOWN_NAME: ExitCode.usage,
  FOREIGN_KEY: ExitCode.usage,
  REDIS_UNREACHABLE: ExitCode.unavailable,
  REDIS_MISSING: ExitCode.unavailable,
  REDIS_GONE: ExitCode.unavailable,
  CLIENT_MISSING: ExitCode.unavailable,
  STORE_UNREACHABLE: ExitCode.unavailable,
  CANNOT_LISTEN: ExitCode.unavailable,
  SERVICE_UNREACHABLE: ExitCode.unavailable,
  CANNOT_WRITE: ExitCode.cannotCreate,
  NO_SUCH_RUN: ExitCode.usage,
  RUN_INVALID: ExitCode.invalidRun,
  WORKER_FAILED: ExitCode.software,
  INTERRUPTED: ExitCode.interrupted,
} as const satisfies Record<string, ExitCode>;
export type WeirErrorCode = keyof typeof CATALOGUE;

export interface WeirErrorOptions extends ErrorOptions {
  /** What the user can do now, in one sentence. */
  readonly remedy?: string;
}

export class WeirError extends Error {
  readonly code: WeirErrorCode;
  readonly exitCode: ExitCode;
  readonly remedy: string | undefined;

  constructor(code: WeirErrorCode, message: string, options: WeirErrorOptions = {}) {
    super(message, options);
    this.name = 'WeirError';
    this.code = code;
    this.exitCode = CATALOGUE[code];
    this.remedy = options.remedy;
  }
}

/** An option whose value cannot be. */
export function usageError(option: string, received: unknown, expected: string): WeirError {
  return new WeirError('USAGE', `${option} is ${JSON.stringify(received)}; it must be ${expected}`);
}

/** A name that is not registered; lists those that are. */
export function unknownName(kind: string, received: string, known: readonly string[]): WeirError {
  return new WeirError('UNKNOWN_NAME', `there is no ${kind} ${JSON.stringify(received)}`, {
    remedy: `known ${kind.replace(/y$/, 'ie')}s: ${known.join(', ')}`,
  });
}
