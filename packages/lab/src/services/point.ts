import type { RedisClient, RedisReply } from '@weir/patterns';
import type { FastifyPluginAsync } from 'fastify';
import { Counter } from 'prom-client';
import type { Random } from '../core/random.js';
import { addOperations, createRegistry } from './operations.js';
import { pointIds, pointKey } from './point-keys.js';
import { redisReadiness } from './redis-readiness.js';
import { ERROR_SCHEMA, ServiceError } from './service-error.js';
import { type Commands, type OpenStrategy, PoolExhaustedError } from './strategies/strategy.js';

export interface PointServiceOptions {
  /** For readiness checks. */
  readonly client: RedisClient;
  /** How requests get at Redis. */
  readonly strategy: OpenStrategy;
  readonly keyPrefix: string;
  /** Ids are drawn from 1 up to this. */
  readonly entries: number;
  /** Share of the lookups whose id is one of `entries`, 0 to 1; the others ask for ids that never exist. */
  readonly hitRate: number;
  /** Where ids and points come from. */
  readonly random: Random;
}

const LARGEST_POINT = 100_000;

/**
 * The web app of the connection experiment: `GET /save` stores a hash `{id, point, refreshTime}` under a random id, `GET
 * /get` looks a random id up and answers its point, or 0 where there is none. How it gets at Redis is its strategy; all
 * else is the same.
 */
export const pointService: FastifyPluginAsync<PointServiceOptions> = async (app, options) => {
  const { client, strategy, keyPrefix, random } = options;
  const ids = pointIds(options);
  app.addHook('onClose', () => strategy.close());
  const registry = createRegistry();
  const lookups = new Counter({
    name: 'weir_point_lookups_total',
    help: 'Lookups by whether the id was there.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  const hits = lookups.labels({ outcome: 'hit' });
  const misses = lookups.labels({ outcome: 'miss' });
  const tags = ['point'];
  const response = { 200: TEXT_SCHEMA, '4xx': ERROR_SCHEMA, 503: ERROR_SCHEMA };

  app.get('/', { schema: { tags, summary: 'Says what this is; asks no Redis.' } }, async (_, reply) => {
    reply.type('text/plain; charset=utf-8');
    return 'weir point: GET /save stores a point under a random id, GET /get looks one up';
  });
  app.get<{ Querystring: IdQuery }>(
    '/save',
    { schema: { tags, summary: 'Store a random point; answers its id.', querystring: ID_SCHEMA, response } },
    async (request, reply) => {
      const id = request.query.id ?? ids.existing();
      const point = 1 + Math.floor(random() * LARGEST_POINT);
      const fields = ['id', String(id), 'point', String(point), 'refreshTime', String(Date.now())];
      await using(strategy, (commands) => commands.send(['HSET', pointKey(keyPrefix, id), ...fields]));
      reply.type('text/plain; charset=utf-8');
      return String(id);
    },
  );
  app.get<{ Querystring: IdQuery }>(
    '/get',
    {
      schema: { tags, summary: 'Look a point up; 0 where there is none.', querystring: ID_SCHEMA, response },
    },
    async (request, reply) => {
      const id = request.query.id ?? ids.wanted();
      const point = await using(strategy, (commands) =>
        commands.send(['HGET', pointKey(keyPrefix, id), 'point']),
      );
      (point === null ? misses : hits).inc();
      reply.type('text/plain; charset=utf-8');
      return point === null ? '0' : String(point);
    },
  );
  addOperations(app, registry, () => redisReadiness(client));
};

interface IdQuery {
  readonly id?: number;
}

const ID_SCHEMA = {
  type: 'object',
  properties: {
    id: { type: 'integer', minimum: 1, description: 'This id instead of a random one.' },
  },
} as const;

const TEXT_SCHEMA = {
  description: 'The id or the point.',
  content: { 'text/plain': { schema: { type: 'string' } } },
} as const;

/** An exhausted pool will pass, like a Redis that is away. */
async function using(
  strategy: OpenStrategy,
  work: (commands: Commands) => Promise<RedisReply>,
): Promise<RedisReply> {
  try {
    return await strategy.use(work);
  } catch (error) {
    if (!(error instanceof PoolExhaustedError)) throw error;
    throw new ServiceError(503, 'POOL_EXHAUSTED', error.message, {}, { cause: error });
  }
}
