import { type Producer, SendError, type SendFailure } from '@weir/patterns';
import type { HttpClient } from './http-client.js';

/** How long requests took. */
export interface RequestClock {
  count: number;
  totalNs: number;
}

/** A producer whose messages take the way through producer services, in turn. */
export function httpProducer(
  id: string,
  pattern: string,
  services: readonly HttpClient[],
  clock: RequestClock,
): Producer {
  let sequence = 0;
  let turn = 0;
  const counters = { attempted: 0, acknowledged: 0, failed: 0, unknown: 0, inFlight: 0 };
  const post = async (texts: readonly string[]): Promise<readonly SendFailure[]> => {
    const service = services[turn++ % services.length];
    if (service === undefined) throw new Error('there is no producer service to send to');
    const [only] = texts;
    const began = performance.now();
    const { status, body } =
      texts.length === 1
        ? await service.request('POST', `/${pattern}/send`, only)
        : await service.request('POST', `/${pattern}/send/batch`, ndjson(texts), 'application/x-ndjson');
    clock.count++;
    clock.totalNs += (performance.now() - began) * 1e6;
    return status === 200 ? [] : failuresIn(body, texts.length, `HTTP ${status}: ${body}`);
  };
  return {
    id,
    counters: () => ({ ...counters }),
    send: async (bodies) => {
      const firstSequence = sequence;
      sequence += bodies.length;
      counters.attempted += bodies.length;
      counters.inFlight += bodies.length;
      // No answer: the service may have passed them on.
      const failures = await post(bodies.map(String)).catch((error: unknown) =>
        all(bodies.length, 'unknown', error instanceof Error ? error : new Error(String(error))),
      );
      counters.inFlight -= bodies.length;
      counters.acknowledged += bodies.length - failures.length;
      for (const { state } of failures) counters[state]++;
      if (failures.length > 0) throw new SendError(bodies.length - failures.length, failures);
      return { firstSequence, count: bodies.length };
    },
    close: async () => undefined,
  };
}

/** A service names the messages that failed; an answer that names none has accepted none. */
function failuresIn(body: string, count: number, message: string): readonly SendFailure[] {
  try {
    const { failed }: { failed?: unknown } = JSON.parse(body);
    if (!Array.isArray(failed)) return all(count, 'failed', new Error(message));
    return failed.map(({ index, state }) => ({
      index: Number(index),
      state: state === 'unknown' ? 'unknown' : 'failed',
      error: new Error(message),
    }));
  } catch {
    return all(count, 'failed', new Error(message));
  }
}

function all(count: number, state: SendFailure['state'], error: Error): SendFailure[] {
  return Array.from({ length: count }, (_, index) => ({ index, state, error }));
}

function ndjson(texts: readonly string[]): string {
  return texts.map((text) => `${JSON.stringify(text)}\n`).join('');
}
