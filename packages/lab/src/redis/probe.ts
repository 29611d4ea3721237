import { createClient, ErrorReply } from 'redis';

/** What one attempt to talk to a Redis found. `refused`: it answers, and with an error (credentials, loading). */
export type Probe =
  | { readonly state: 'ready'; readonly processId: number | undefined }
  | { readonly state: 'refused'; readonly error: Error }
  | { readonly state: 'unreachable'; readonly error: Error };

/**
 * Connects once, without retrying, and asks PING and INFO server.
 * @param deadlineMs for the whole attempt: a server that accepts and never answers counts as unreachable
 */
export async function probe(url: string, deadlineMs: number): Promise<Probe> {
  const client = createClient({
    url,
    disableClientInfo: true,
    maintNotifications: 'disabled',
    socket: { reconnectStrategy: false, connectTimeout: deadlineMs },
  });
  // The same error also rejects connect(); an emitter without a listener would throw it a second time.
  client.on('error', () => undefined);
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${Math.round(deadlineMs)} ms`)), deadlineMs);
  });
  const ask = async (): Promise<Probe> => {
    await client.connect();
    await client.ping();
    const processId = /^process_id:(\d+)/m.exec(await client.info('server'))?.[1];
    return { state: 'ready', processId: processId === undefined ? undefined : Number(processId) };
  };
  try {
    return await Promise.race([ask(), deadline]);
  } catch (cause) {
    const error = cause instanceof Error ? cause : new Error(String(cause));
    return { state: error instanceof ErrorReply ? 'refused' : 'unreachable', error };
  } finally {
    clearTimeout(timer);
    if (client.isOpen) client.destroy();
  }
}
