import type { MessageBody, MessagingPattern, Producer, RedisClient } from '@weir/patterns';
import { PatternError, SendError } from '@weir/patterns';
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import { Counter, Gauge, Histogram } from 'prom-client';
import type { Bytes } from '../core/units.js';
import { messagesOf } from './message-items.js';
import { addOperations, createRegistry } from './operations.js';
import {
  type PatternParameters,
  patternOf,
  patternParametersSchema,
  refuseUnknownPattern,
} from './pattern-parameter.js';
import { redisReadiness } from './redis-readiness.js';
import { ERROR_SCHEMA, ServiceError } from './service-error.js';

export interface ProducerServiceOptions {
  readonly client: RedisClient;
  readonly patterns: ReadonlyMap<string, MessagingPattern>;
  /** Put before the key or channel of each pattern. */
  readonly keyPrefix: string;
  /** Largest message. */
  readonly bodyLimitBytes: Bytes;
}

/** The metric whose sum tells the share of a request that is Redis. */
export const SEND_DURATION = 'weir_producer_send_duration_seconds';

/** What is sent when a request has no body. */
const DEFAULT_MESSAGE = 'benchmark-message';

/**
 * The producer over HTTP: `POST /{pattern}/send` puts the body of the request into Redis and answers `ok` once Redis
 * has acknowledged it, so a message that was answered `ok` is there. Anything else means it is not, except a 503 with
 * `unknown`: the connection broke before the answer, and sending again may repeat the message.
 */
export const producerService: FastifyPluginAsync<ProducerServiceOptions> = async (app, options) => {
  const { client, patterns, keyPrefix, bodyLimitBytes } = options;
  const producers = new Map(
    [...patterns].map(([name, pattern]) => [
      name,
      pattern.createProducer(client, {
        key: keyPrefix + pattern.defaultKey,
        maxBodyBytes: bodyLimitBytes,
      }),
    ]),
  );
  // Whatever the content type, the body is the message, byte by byte.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', refuseUnknownPattern(patterns));
  // Requests have been answered by now; what they sent has been acknowledged.
  app.addHook('onClose', async () => {
    await Promise.all([...producers.values()].map((producer) => producer.close()));
  });

  const registry = createRegistry();
  addProducerMetrics(registry, producers);
  const durations = new Histogram({
    name: SEND_DURATION,
    help: 'Time from the write to the acknowledgement of Redis.',
    labelNames: ['pattern'],
    buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1, 5],
    registers: [registry],
  });
  const sendTimed = async (pattern: string, bodies: readonly MessageBody[]): Promise<void> => {
    const producer = patternOf(producers, pattern);
    const began = performance.now();
    await send(producer, bodies);
    durations.observe({ pattern }, (performance.now() - began) / 1000);
  };

  const params = patternParametersSchema([...patterns.keys()]);
  const tags = ['producer'];
  app.post<{ Params: PatternParameters }>(
    '/:pattern/send',
    {
      schema: {
        tags,
        params,
        summary: `Send the body as one message; without a body, "${DEFAULT_MESSAGE}".`,
        consumes: ['text/plain', 'application/octet-stream'],
        response: { 200: OK_SCHEMA, '4xx': ERROR_SCHEMA, 503: ERROR_SCHEMA },
      },
    },
    async (request, reply) => {
      await sendTimed(request.params.pattern, [messageOf(request)]);
      reply.type('text/plain; charset=utf-8');
      return 'ok';
    },
  );
  app.post<{ Params: PatternParameters }>(
    '/:pattern/send/batch',
    {
      schema: {
        tags,
        params,
        summary: 'Send many messages with one write: a JSON array, or NDJSON with one JSON value a line.',
        description: 'Strings are sent as their text, other values as their JSON.',
        consumes: ['application/json', 'application/x-ndjson'],
        response: { 200: BATCH_SCHEMA, '4xx': ERROR_SCHEMA, 503: ERROR_SCHEMA },
      },
    },
    async (request) => {
      const messages = messagesOf(
        bytesOf(request),
        /ndjson|jsonl/.test(request.headers['content-type'] ?? ''),
      );
      await sendTimed(request.params.pattern, messages);
      return { acknowledged: messages.length, failed: [] };
    },
  );

  addOperations(app, registry, () => redisReadiness(client));
};

const OK_SCHEMA = {
  description: 'Redis has acknowledged the message.',
  content: { 'text/plain': { schema: { type: 'string', enum: ['ok'] } } },
} as const;

const BATCH_SCHEMA = {
  type: 'object',
  required: ['acknowledged', 'failed'],
  properties: {
    acknowledged: { type: 'integer', description: 'Messages that are in Redis.' },
    failed: {
      type: 'array',
      description: 'Empty when all were acknowledged; otherwise the answer is 503 and lists them.',
      items: {
        type: 'object',
        properties: {
          index: { type: 'integer', description: 'Place in the batch, from 0.' },
          state: { type: 'string', enum: ['failed', 'unknown'] },
          message: { type: 'string' },
        },
      },
    },
  },
} as const;

/** Says of each message of a write that was not acknowledged whether it may be in Redis all the same. */
async function send(producer: Producer, bodies: readonly MessageBody[]): Promise<void> {
  try {
    await producer.send(bodies);
  } catch (error) {
    if (!(error instanceof SendError)) throw error;
    const failed = error.failures.map(({ index, state, error: { message } }) => ({ index, state, message }));
    const { cause } = error;
    const code = cause instanceof PatternError ? cause.code : error.code;
    const details = { acknowledged: error.acknowledged, failed };
    throw new ServiceError(503, code, error.message, details, { cause: error });
  }
}

/** An octet stream may be empty on purpose; a text that is empty was left out. */
function messageOf(request: FastifyRequest): MessageBody {
  const body = bytesOf(request);
  const isBinary = request.headers['content-type']?.startsWith('application/octet-stream') ?? false;
  return body.length === 0 && !isBinary ? DEFAULT_MESSAGE : body;
}

function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

function addProducerMetrics(
  registry: ReturnType<typeof createRegistry>,
  producers: ReadonlyMap<string, Producer>,
): void {
  const outcomes = ['acknowledged', 'failed', 'unknown'] as const;
  new Counter({
    name: 'weir_producer_messages_total',
    help: 'Messages by what became of them.',
    labelNames: ['pattern', 'outcome'],
    registers: [registry],
    collect() {
      this.reset();
      for (const [pattern, producer] of producers) {
        const counters = producer.counters();
        for (const outcome of outcomes) this.inc({ pattern, outcome }, counters[outcome]);
      }
    },
  });
  new Gauge({
    name: 'weir_producer_in_flight',
    help: 'Messages written and not yet acknowledged.',
    labelNames: ['pattern'],
    registers: [registry],
    collect() {
      for (const [pattern, producer] of producers) this.set({ pattern }, producer.counters().inFlight);
    },
  });
}
