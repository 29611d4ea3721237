import type { MessagingPattern, PatternState, RedisClient } from '@weir/patterns';
import type { FastifyPluginAsync } from 'fastify';
import type { Milliseconds } from '../core/units.js';
import type { MessageStore } from '../stores/message-store.js';
import { addConsumerMetrics } from './consumer-metrics.js';
import { addOperations, createRegistry, type Readiness } from './operations.js';
import {
  type PatternParameters,
  patternOf,
  patternParametersSchema,
  publicName,
  refuseUnknownPattern,
} from './pattern-parameter.js';
import { type PatternResult, RESULT_SCHEMA, STATS_SCHEMA } from './pattern-result.js';
import { type OffsetPlace, PatternRun, type StartOptions } from './pattern-run.js';
import { redisReadiness } from './redis-readiness.js';
import type { ResultArchive } from './result-archive.js';
import { ERROR_SCHEMA, ServiceError } from './service-error.js';

export interface ConsumerServiceOptions {
  readonly client: RedisClient;
  readonly patterns: ReadonlyMap<string, MessagingPattern>;
  /** Put before the key or channel of each pattern. */
  readonly keyPrefix: string;
  readonly store: MessageStore;
  readonly archive: ResultArchive;
  /** Stable and unique among the consumers that run at the same time. */
  readonly consumerName: string;
  readonly offset: OffsetPlace;
  /** How long `stop` may drain. */
  readonly drainDeadlineMs: Milliseconds;
  /** How long the runs under way may take to finish what they took when the service ends. */
  readonly shutdownDeadlineMs: Milliseconds;
}

/** A poll that was answered longer ago than this has trouble; a quiet read is answered every second. */
const OLDEST_POLL_MS = 5_000;
const DEFAULT_BATCH = 100;
const MOST_RESULTS = 1_000;

/**
 * The consumer over HTTP: `start` and `stop` a pattern, look at its figures live and at past results. Each message
 * handled is a row in the store before the pattern's acknowledgement, stored once however often it is delivered.
 */
export const consumerService: FastifyPluginAsync<ConsumerServiceOptions> = async (app, options) => {
  const { client, patterns, keyPrefix, store, archive, consumerName, offset } = options;
  const { drainDeadlineMs, shutdownDeadlineMs } = options;
  const keyOf = (pattern: MessagingPattern): string => keyPrefix + pattern.defaultKey;
  const runs = new Map(
    [...patterns].map(([name, pattern]) => {
      const log = app.log.child({ pattern: name });
      const onError = (err: Error): void => log.warn({ err }, 'survived');
      const key = keyOf(pattern);
      return [name, new PatternRun({ pattern, client, key, store, consumerName, offset, onError })];
    }),
  );
  // No request has a body that matters, whatever its content type: curl and others send empty JSON or forms.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) => done(null, undefined));
  app.addHook('onRequest', refuseUnknownPattern(patterns));
  app.addHook('onClose', async () => {
    await Promise.all(
      [...runs].map(async ([name, run]) => {
        const result = await run.end(shutdownDeadlineMs);
        if (result === undefined) return;
        app.log.info({ result }, 'stopped with the service');
        // The messages are stored; with the database away the log is what is left of the result.
        await archive.add(name, result).catch((err: unknown) => app.log.error({ err }, 'result not stored'));
      }),
    );
  });

  const params = patternParametersSchema([...patterns.keys()]);
  const shared = { tags: ['consumer'], params };
  const errors = { '4xx': ERROR_SCHEMA, 503: ERROR_SCHEMA };

  app.post<{ Params: PatternParameters; Querystring: StartOptions }>(
    '/:pattern/start',
    {
      schema: {
        ...shared,
        summary: 'Start consuming. Every message sent after the answer will be seen.',
        querystring: START_SCHEMA,
        response: { 200: STATS_SCHEMA, ...errors },
      },
    },
    async ({ params: { pattern }, query }) => {
      await patternOf(runs, pattern).start(query);
      return statsOf(pattern);
    },
  );
  app.post<{ Params: PatternParameters }>(
    '/:pattern/stop',
    {
      schema: {
        ...shared,
        summary: `Handle what was sent before, at most ${drainDeadlineMs / 1000} s, store the result and return it.`,
        response: { 200: RESULT_SCHEMA, ...errors },
      },
    },
    async ({ params: { pattern } }) => {
      const result = await patternOf(runs, pattern).stop(true, drainDeadlineMs);
      await archived(pattern, result);
      return result;
    },
  );
  app.get<{ Params: PatternParameters }>(
    '/:pattern/stats',
    { schema: { ...shared, summary: 'Live figures.', response: { 200: STATS_SCHEMA, ...errors } } },
    ({ params: { pattern } }) => statsOf(pattern),
  );
  app.get<{ Params: PatternParameters; Querystring: { readonly limit: number } }>(
    '/:pattern/results',
    {
      schema: {
        ...shared,
        summary: 'Past results from the database, newest first.',
        querystring: LIMIT_SCHEMA,
        response: { 200: { type: 'array', items: ARCHIVED_SCHEMA }, ...errors },
      },
    },
    ({ params: { pattern }, query: { limit } }) => archive.list(pattern, limit),
  );

  /** The run has ended, so a result that cannot be stored is at least answered. */
  async function archived(pattern: string, result: PatternResult): Promise<void> {
    try {
      await archive.add(pattern, result);
    } catch (cause) {
      const message = `${pattern} was stopped, but its result could not be stored`;
      throw new ServiceError(503, 'RESULT_NOT_STORED', message, { result }, { cause });
    }
  }

  async function statsOf(name: string) {
    const pattern = patternOf(patterns, name);
    const run = patternOf(runs, name);
    const { counters, ...figures } = run.figures();
    const state = await inspect(pattern);
    return {
      pattern: publicName(pattern),
      running: run.isRunning,
      ...figures,
      inFlight: counters?.inFlight ?? 0,
      lag: state?.unread ?? null,
      pending: state?.pending ?? null,
      errors: counters?.errors ?? 0,
      disconnects: counters?.disconnects ?? 0,
      lastPollAgeMs: run.isRunning ? (counters?.lastPollAgeMs ?? null) : null,
    };
  }

  /** Live figures are given with Redis away, too. */
  async function inspect(pattern: MessagingPattern): Promise<PatternState | undefined> {
    return pattern.inspect(client, { key: keyOf(pattern) }).catch(() => undefined);
  }

  async function readiness(): Promise<Readiness> {
    const redis = await redisReadiness(client);
    const database = await storeReadiness(store);
    const ages = [...runs].flatMap(([name, run]): [string, number][] =>
      run.isRunning ? [[name, run.figures().counters?.lastPollAgeMs ?? 0]] : [],
    );
    return {
      ready: redis.ready && database.ready && ages.every(([, age]) => age <= OLDEST_POLL_MS),
      checks: { ...redis.checks, ...database.checks, lastPollAgeMs: Object.fromEntries(ages) },
    };
  }

  const registry = createRegistry();
  addConsumerMetrics(registry, runs, (name) => inspect(patternOf(patterns, name)));
  addOperations(app, registry, readiness);
};

const START_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    batch: {
      type: 'integer',
      minimum: 1,
      maximum: 1000,
      default: DEFAULT_BATCH,
      description: 'Most messages in one transaction.',
    },
    from: {
      type: 'string',
      enum: ['new', 'beginning'],
      default: 'new',
      description: 'beginning: also what was sent before, where the pattern keeps it.',
    },
  },
} as const;

const LIMIT_SCHEMA = {
  type: 'object',
  properties: { limit: { type: 'integer', minimum: 1, maximum: MOST_RESULTS, default: 100 } },
} as const;

const ARCHIVED_SCHEMA = {
  type: 'object',
  properties: {
    ...RESULT_SCHEMA.properties,
    finishedAt: { type: 'string', description: 'ISO 8601, UTC.' },
  },
} as const;

async function storeReadiness(store: MessageStore): Promise<Readiness> {
  try {
    await store.ping();
    return { ready: true, checks: { store: { status: 'ok' } } };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ready: false, checks: { store: { status: 'unavailable', message } } };
  }
}
