import { PatternError, type PatternErrorCode } from '@weir/patterns';
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import { WeirError } from '../core/errors.js';
import { redactUrls } from '../core/redact.js';

/** When a client may try again after a 503, in seconds. */
const RETRY_AFTER_SECONDS = 1;

/** A request that is answered with an error on purpose. `code` is stable, `message` says what to do. */
export class ServiceError extends Error {
  readonly statusCode: number;
  readonly code: string;
  /** More members of the answer. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    statusCode: number,
    code: string,
    message: string,
    details: Readonly<Record<string, unknown>> = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ServiceError';
    this.statusCode = statusCode;
    this.code = code;
    this.details = details;
  }
}

/** What every error answer looks like. */
export const ERROR_SCHEMA = {
  type: 'object',
  required: ['error', 'message'],
  additionalProperties: true,
  properties: {
    error: { type: 'string', description: 'Stable code.' },
    message: { type: 'string', description: 'What is wrong and what would be right.' },
  },
} as const;

/** Turns whatever a route throws into one form of answer: no stack traces, no passwords, `Retry-After` with 503. */
export function installErrorAnswers(app: FastifyInstance): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const answer = answerTo(error);
    if (answer.statusCode >= 500) request.log.error({ err: error }, answer.code);
    return send(reply, answer);
  });
  app.setNotFoundHandler((request, reply) =>
    send(
      reply,
      new ServiceError(
        404,
        'NOT_FOUND',
        `there is no ${request.method} ${request.url}; see /docs or /openapi.json`,
      ),
    ),
  );
}

function send(reply: FastifyReply, { statusCode, code, message, details }: ServiceError): FastifyReply {
  if (statusCode === 503) reply.header('retry-after', RETRY_AFTER_SECONDS);
  return reply.status(statusCode).send({ error: code, message: redactUrls(message), ...details });
}

function answerTo(error: FastifyError): ServiceError {
  if (error instanceof ServiceError) return error;
  if (error instanceof PatternError) {
    return new ServiceError(STATUS_OF[error.code], error.code, error.message);
  }
  if (error instanceof WeirError) return new ServiceError(503, error.code, error.message);
  // Fastify's own: a body that is too large, a parameter that fails its schema, too many requests.
  if (error.statusCode !== undefined && error.statusCode < 500) {
    return new ServiceError(error.statusCode, error.code ?? 'BAD_REQUEST', error.message);
  }
  return new ServiceError(
    500,
    'INTERNAL',
    'the request failed for a reason that is in the log of the service',
  );
}

const STATUS_OF = {
  INVALID_OPTION: 400,
  BODY_TOO_LARGE: 413,
  ALREADY_STARTED: 409,
  NOT_STARTED: 409,
  FOREIGN_KEY: 409,
  // This Redis will never do it.
  UNSUPPORTED_SERVER: 501,
  // The rest will pass: Redis is away, or the queue is full.
  CLOSED: 503,
  NOT_CONNECTED: 503,
  UNKNOWN_OUTCOME: 503,
  REDIS_REPLY: 503,
  LENGTH_CAP: 503,
  SEND_INCOMPLETE: 503,
} as const satisfies Record<PatternErrorCode, number>;
