/** What `stop` answers and the database keeps. The first five members are the original's, in its order. */
export interface PatternResult {
  /** Upper snake case: `STREAM_GROUP`. */
  readonly pattern: string;
  readonly running: false;
  /** Messages whose handling succeeded, repeated deliveries included. */
  readonly totalMessages: number;
  /** From the arrival of the first message to the commit of the last one. */
  readonly durationMs: number;
  /** `totalMessages` per second of `durationMs`: `20733.47 msg/sec`. */
  readonly throughput: string;
  /** From start to stop: the original's window, idle time included. */
  readonly windowMs: number;
  /** Rows written. */
  readonly stored: number;
  /** Messages that were in the database already, and were not written again. */
  readonly duplicates: number;
  readonly retries: number;
  readonly deadLettered: number;
  /** Given up or dropped without a dead letter. */
  readonly dropped: number;
  /** Removed by Redis before they were read. */
  readonly trimmed: number;
  /** False when the deadline passed before everything was handled. */
  readonly drained: boolean;
  /** Taken and neither handled nor given back. */
  readonly unfinished: number;
  /** ISO 8601, UTC. */
  readonly startedAt: string;
}

const count = (description: string) => ({ type: 'integer', description }) as const;

const FIGURES = {
  pattern: { type: 'string', description: 'Upper snake case: STREAM_GROUP.' },
  running: { type: 'boolean' },
  totalMessages: count('Messages whose handling succeeded, repeated deliveries included.'),
  durationMs: count('From the arrival of the first message to the commit of the last one.'),
  throughput: { type: 'string', description: 'Text like "20733.47 msg/sec".' },
  windowMs: count('From start to stop, or to now; idle time included.'),
  stored: count('Rows written.'),
  duplicates: count('Messages that were in the database already.'),
  retries: count('Deliveries after the first attempt.'),
  deadLettered: count('Messages given up and kept as dead letters.'),
  dropped: count('Messages given up without a dead letter.'),
  trimmed: count('Messages that Redis removed before they were read.'),
  startedAt: { type: 'string', description: 'ISO 8601, UTC; empty when it never ran.' },
} as const;

export const RESULT_SCHEMA = {
  type: 'object',
  properties: {
    ...FIGURES,
    drained: { type: 'boolean', description: 'False when the deadline passed first.' },
    unfinished: count('Taken and neither handled nor given back.'),
  },
} as const;

export const STATS_SCHEMA = {
  type: 'object',
  properties: {
    ...FIGURES,
    inFlight: count('Taken, handling not finished.'),
    lag: { type: ['integer', 'null'], description: 'Waiting in Redis; null while Redis does not answer.' },
    pending: { type: ['integer', 'null'], description: 'Taken by a consumer and not acknowledged.' },
    errors: count('Handler calls that failed, per message.'),
    disconnects: count('Times the connection was lost.'),
    lastPollAgeMs: {
      type: ['number', 'null'],
      description: 'Since the last successful poll; null when idle.',
    },
  },
} as const;
