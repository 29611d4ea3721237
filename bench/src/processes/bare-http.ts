import fastify from 'fastify';
import { serveWorker, type WorkerApi } from '../lab.js';

/** A Fastify route that takes the body as bytes and only answers `ok`: what HTTP alone costs. */
export interface BareHttpApi extends WorkerApi {
  /** Listens. Called once, first. */
  readonly prepare: (parameters: undefined) => Promise<void>;
  readonly address: (parameters: undefined) => string;
}

serveWorker((): BareHttpApi => {
  const app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.post('/send', async (_request, reply) => {
    reply.type('text/plain; charset=utf-8');
    return 'ok';
  });
  let url = '';
  return {
    async prepare() {
      url = await app.listen({ host: '127.0.0.1', port: 0 });
    },
    address: () => url,
  };
});
