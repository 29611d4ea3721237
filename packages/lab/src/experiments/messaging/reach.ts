import { WeirError } from '../../core/errors.js';
import { redact } from '../../core/redact.js';
import { withStore } from '../../stores/load-stores.js';
import { httpClient } from '../../workers/http-client.js';
import type { MessagingOptions } from './options.js';

/**
 * Opens the store once and asks the user's services for a sign of life.
 * @throws {WeirError} STORE_UNREACHABLE, CANNOT_WRITE or SERVICE_UNREACHABLE
 */
export async function reachStoreAndServices({ store, storeIsOurs, via }: MessagingOptions): Promise<void> {
  if (!storeIsOurs) await withStore(store, async () => undefined);
  if (via.kind === 'direct' || via.remote === undefined) return;
  for (const service of [...via.remote.producers, ...via.remote.consumers]) await reachService(service);
}

async function reachService(service: string): Promise<void> {
  const client = httpClient(service, 1);
  try {
    const { status } = await client.request('GET', '/healthz');
    if (status !== 200) throw new Error(`GET /healthz answered ${status}`);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new WeirError('SERVICE_UNREACHABLE', `${redact(service)} is no service of weir: ${reason}`, {
      cause,
      remedy: 'start one: weir serve producer, weir serve consumer',
    });
  } finally {
    client.close();
  }
}
