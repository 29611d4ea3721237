import { significant } from '../../core/units.js';
import type { MetricDefinition } from '../../measure/measurement.js';
import type { Quantity, Summary } from '../../measure/result.js';
import type { ProducerReport } from '../../workers/messaging-api.js';

/** What is measured beside the rest when messages go over HTTP. */
export const HTTP_METRICS = [
  {
    name: 'httpShare',
    unit: '%',
    better: 'neither',
    compared: false,
    description:
      'Share of the time of a send that is HTTP: what the sender waits for an answer beyond what the service waits for Redis.',
  },
  {
    name: 'requestTime',
    unit: 'ns',
    better: 'neither',
    compared: false,
    description: 'Mean time of a request, as the sender sees it; saturated, not service latency.',
  },
] as const satisfies readonly MetricDefinition[];

/**
 *     sender  |----------------- request -----------------|
 *     service         |--- waits for Redis ---|
 *              httpShare = 1 - waits for Redis / request
 *
 * Sums over all requests of the trial; the queue in front of a busy service counts as HTTP.
 */
export function httpFigures(sends: readonly ProducerReport[]): Record<string, Quantity> {
  const times = sends.flatMap(({ requests }) => (requests === undefined ? [] : [requests]));
  const sum = (figure: (time: (typeof times)[number]) => number): number =>
    times.reduce((total, time) => total + figure(time), 0);
  const count = sum((time) => time.count);
  const totalNs = sum((time) => time.totalNs);
  if (count === 0 || totalNs === 0) return {};
  const share = 1 - sum((time) => time.redisNs) / totalNs;
  return {
    httpShare: { value: 100 * Math.max(0, share), unit: '%' },
    requestTime: { value: totalNs / count, unit: 'ns' },
  };
}

/** `HTTP takes 84 % (queue) to 91 % (pubsub) of the time of a send`; nothing where nothing went over HTTP. */
export function httpRemarks({ variants }: Summary): readonly string[] {
  const shares = variants
    .flatMap(({ name, metrics: { httpShare } }) =>
      httpShare === undefined ? [] : [{ name, share: httpShare.median }],
    )
    .sort((a, b) => a.share - b.share);
  const [least] = shares;
  const most = shares.at(-1);
  if (least === undefined || most === undefined) return [];
  const said = (each: typeof least): string => `${significant(each.share)} % (${each.name})`;
  const range = shares.length === 1 ? said(least) : `${said(least)} to ${said(most)}`;
  return [`HTTP takes ${range} of the time of a send; the rest is Redis`];
}
