import rateLimit from '@fastify/rate-limit';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import fastify, { type FastifyInstance, LogController } from 'fastify';
import { redactUrls } from '../core/redact.js';
import type { Bytes } from '../core/units.js';
import { version } from '../core/version.js';
import { requireToken } from './authorization.js';
import { installErrorAnswers } from './service-error.js';

export interface HttpServerOptions {
  /** What the OpenAPI document calls it. */
  readonly title: string;
  /** Bearer token; without one everybody who reaches the service may use it. */
  readonly token: string | undefined;
  /** Largest body of a request. */
  readonly bodyLimitBytes: Bytes;
  /** Requests per second of one client address; `undefined`: as many as it likes. */
  readonly requestsPerSecond: number | undefined;
  readonly log: ServiceLog;
}

/** Where structured logs go; `undefined`: nowhere. */
export type ServiceLog =
  | { readonly level: string; readonly stream: { write(line: string): void } }
  | undefined;

/** What must never be logged, wherever it turns up. */
const SECRET_PATHS = [
  'req.headers.authorization',
  'headers.authorization',
  'token',
  'password',
  '*.password',
];

/**
 * A Fastify server with everything the services share: logs, one form of errors, token, rate limit, OpenAPI. Routes
 * are added by the plugin of the service.
 */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const { title, token, bodyLimitBytes, requestsPerSecond, log } = options;
  const app = fastify({
    bodyLimit: bodyLimitBytes,
    // One line per request would cost more than the request; what failed is logged by the error handler.
    logController: new LogController({ disableRequestLogging: true }),
    logger: log === undefined ? false : { ...log, redact: SECRET_PATHS, serializers: { err: shownError } },
  });
  installErrorAnswers(app);
  closeIdleConnectionsAtEnd(app);
  if (token !== undefined) requireToken(app, token);
  if (requestsPerSecond !== undefined) {
    await app.register(rateLimit, { max: requestsPerSecond, timeWindow: 1_000 });
  }
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title, version, description: 'Ways to use Redis, as a service to be measured.' },
      ...(token === undefined
        ? {}
        : {
            components: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
            security: [{ token: [] }],
          }),
    },
  });
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/docs')) route.config = { ...route.config, open: true };
  });
  // The page and all it needs come from the package: no network. It is open, since a browser sends no token.
  await app.register(swaggerUi, { routePrefix: '/docs', staticCSP: true });
  app.get('/openapi.json', { config: { open: true }, schema: { hide: true } }, async () => app.swagger());
  return app;
}

/** How often connections that have become idle are closed while the server ends, in milliseconds. */
const CLOSE_IDLE_EVERY_MS = 50;

/**
 * Node closes the connections that are idle when the end begins. One that is answered after that would stay open until
 * its keep-alive time is over, and hold up the end of the service for as long.
 */
function closeIdleConnectionsAtEnd(app: FastifyInstance): void {
  app.addHook('preClose', async () => {
    const timer = setInterval(() => app.server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
    app.server.once('close', () => clearInterval(timer));
  });
}

/** Errors in the log: with their stack, without the passwords of URLs, and with nothing else they carry. */
function shownError(error: Error) {
  return {
    type: error.name,
    ...('code' in error ? { code: String(error.code) } : {}),
    message: redactUrls(error.message),
    stack: redactUrls(error.stack ?? ''),
  };
}
