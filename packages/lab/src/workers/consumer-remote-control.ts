import type { ConsumerCounters, StopReport } from '@weir/patterns';
import type { HttpClient } from './http-client.js';

/** The answers of a consumer service that a trial reads. */
export interface ConsumerFigures extends Pick<StopReport, 'drained' | 'unfinished'> {
  readonly totalMessages: number;
  readonly counters: ConsumerCounters;
}

/** Drives one pattern of a consumer service over HTTP. @throws Error with what the service answered */
export function consumerRemoteControl(client: HttpClient, pattern: string) {
  const ask = async (method: 'GET' | 'POST', path: string): Promise<ConsumerFigures> => {
    const { status, body } = await client.request(method, `/${pattern}/${path}`);
    if (status !== 200) throw new Error(`${method} /${pattern}/${path} answered ${status}: ${body}`);
    return figuresOf(JSON.parse(body));
  };
  return {
    start: (batch: number, from: 'new' | 'beginning') => ask('POST', `start?batch=${batch}&from=${from}`),
    stats: () => ask('GET', 'stats'),
    stop: () => ask('POST', 'stop'),
  };
}

/** Members that one of the answers does not have count as nothing. */
function figuresOf(answer: Readonly<Record<string, unknown>>): ConsumerFigures {
  const number = (name: string): number => Number(answer[name] ?? 0);
  return {
    totalMessages: number('totalMessages'),
    drained: answer.drained !== false,
    unfinished: number('unfinished'),
    counters: {
      received: number('totalMessages') + number('inFlight'),
      handled: number('totalMessages'),
      errors: number('errors'),
      retries: number('retries'),
      deadLettered: number('deadLettered'),
      dropped: number('dropped'),
      inFlight: number('inFlight'),
      trimmed: number('trimmed'),
      takenOver: number('takenOver'),
      fenced: number('fenced'),
      rewinds: number('rewinds'),
      disconnects: number('disconnects'),
      batches: 0,
      lastPollAgeMs: number('lastPollAgeMs'),
    },
  };
}
