import type { FastifyInstance } from 'fastify';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { ERROR_SCHEMA } from './service-error.js';

/** Whether a service can do its work, and what it looked at. */
export interface Readiness {
  readonly ready: boolean;
  /** For people: the age of the last successful poll of each pattern, what does not answer, ... */
  readonly checks: Readonly<Record<string, unknown>>;
}

/**
 * What whoever runs a service needs: `/healthz` (the process lives), `/readyz` (its dependencies answer) and
 * `/metrics` for Prometheus. Both probes are open; they tell nothing about messages.
 *
 * @param registry of this service alone, so that several live in one process
 */
export function addOperations(
  app: FastifyInstance,
  registry: Registry,
  readiness: () => Promise<Readiness>,
): void {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30],
    registers: [registry],
  });
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    durations.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    done();
  });

  const tags = ['operations'];
  app.get(
    '/healthz',
    { config: { open: true }, schema: { tags, summary: 'The process lives.' } },
    async () => ({
      status: 'ok',
    }),
  );
  app.get(
    '/readyz',
    { config: { open: true }, schema: { tags, summary: 'Redis and the database answer and polls succeed.' } },
    async (_request, reply) => {
      const { ready, checks } = await readiness();
      if (!ready) reply.status(503).header('retry-after', 1);
      return { status: ready ? 'ok' : 'not-ready', ...checks };
    },
  );
  app.get(
    '/metrics',
    { schema: { tags, summary: 'Figures for Prometheus.', response: { 401: ERROR_SCHEMA } } },
    async (_request, reply) => {
      reply.header('content-type', registry.contentType);
      return registry.metrics();
    },
  );
}

/** A registry with the figures of the process: CPU, memory, event loop lag. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return registry;
}
