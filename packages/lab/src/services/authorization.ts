import { createHash, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { usageError } from '../core/errors.js';
import { ServiceError } from './service-error.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answered without a token: holds nothing of the messages. */
    open?: boolean;
  }
}

/** Asks every request for `Authorization: Bearer <token>`, except for routes that are marked `open`. */
export function requireToken(app: FastifyInstance, token: string): void {
  const expected = digest(token);
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.open === true || request.is404) return;
    const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    // Digests have one length, so the time of the comparison tells nothing about the token.
    if (timingSafeEqual(digest(given), expected)) return;
    reply.header('www-authenticate', 'Bearer');
    throw new ServiceError(
      401,
      'UNAUTHORIZED',
      'send the token of this service as Authorization: Bearer <token>',
    );
  });
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** Whether only processes of this machine can reach a host name or address. */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host === 'localhost';
  return LOOPBACK.check(host, family === 4 ? 'ipv4' : 'ipv6');
}

/**
 * A service that others can reach lets nobody in without a token.
 * @throws {WeirError} USAGE
 */
export function checkExposure(host: string, token: string | undefined): void {
  if (token !== undefined && !/^[!-~]{1,1024}$/.test(token)) {
    // Never the value itself.
    throw usageError('--token', '…', 'printable ASCII without spaces');
  }
  if (token !== undefined || isLoopback(host)) return;
  throw usageError('--host', host, 'an address of this machine only (127.0.0.1), unless --token is given');
}
