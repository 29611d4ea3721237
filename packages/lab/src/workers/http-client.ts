import { Agent, request as httpRequest } from 'node:http';
import { request as httpsRequest, Agent as SecureAgent } from 'node:https';
import { redact } from '../core/redact.js';

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

/** Asks one service over a bounded number of keep-alive connections. */
export interface HttpClient {
  /**
   * @throws Error when the connection breaks before the whole answer is there: the request may have been carried out
   */
  request(method: 'GET' | 'POST', path: string, body?: string, type?: string): Promise<HttpAnswer>;
  close(): void;
}

/** A service that keeps silent for this long is treated as gone; it may drain for 30 s. */
const TIMEOUT_MS = 45_000;

/**
 * Node's own client: the load generator shall cost little beside the service, and `fetch` costs several times as much.
 * @param token sent as bearer token, if any
 */
export function httpClient(service: string, connections: number, token?: string): HttpClient {
  const { protocol } = new URL(service);
  const isSecure = protocol === 'https:';
  const settings = { keepAlive: true, maxSockets: connections, timeout: TIMEOUT_MS };
  const agent = isSecure ? new SecureAgent(settings) : new Agent(settings);
  const ask = isSecure ? httpsRequest : httpRequest;
  const base = new URL(service);
  const root = base.pathname.replace(/\/$/, '');
  const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const { hostname, port } = base;
  return {
    request: (method, path, body = '', type = 'text/plain') =>
      new Promise((resolve, reject) => {
        const headers = {
          'content-type': type,
          'content-length': Buffer.byteLength(body),
          ...credentials,
        };
        const options = { agent, method, hostname: hostname.replace(/^\[|\]$/g, ''), port, headers };
        const sent = ask({ ...options, path: root + path }, (answer) => {
          const parts: Buffer[] = [];
          answer.on('data', (part: Buffer) => parts.push(part));
          answer.once('error', reject);
          answer.once('end', () =>
            resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(parts).toString() }),
          );
        });
        sent.once('timeout', () => sent.destroy(new Error(`${redact(service)} keeps silent`)));
        sent.once('error', reject);
        sent.end(body);
      }),
    close: () => agent.destroy(),
  };
}
