import { createServer } from 'node:net';

/**
 * A TCP port of the loopback interface that nobody listened on a moment ago. Another process may take it before
 * it is bound again, so the caller must be ready to try once more.
 */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('the kernel gave no port'));
        else resolve(address.port);
      });
    });
  });
}
