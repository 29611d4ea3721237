import type { Result } from '../measure/result.js';

/**
 * The contract of a reporter: derives one document from a stored result. Raw results are kept, reports are made
 * from them at any time, so a reporter reads nothing but the result.
 */
export interface Reporter {
  /** Registered name and the value of `--format`. */
  readonly name: string;
  readonly summary: string;
  /** File extension without the dot. */
  readonly extension: string;
  render(result: Result, options: ReportOptions): string;
}

export interface ReportOptions {
  /** May colour and bold be used? */
  readonly color: boolean;
  /** Columns of the terminal; 100 where there is none. */
  readonly width: number;
}
