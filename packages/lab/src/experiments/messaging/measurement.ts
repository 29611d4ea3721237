import { cpus } from 'node:os';
import { NANOSECONDS_PER_SECOND, type Nanoseconds } from '../../core/units.js';
import { decodeHistogram, mergeHistograms } from '../../measure/histogram.js';
import { settle } from '../../measure/ledger.js';
import { limitedBy } from '../../measure/limited-by.js';
import type { Measurement, MetricDefinition, Observations } from '../../measure/measurement.js';
import { sumResources } from '../../measure/resources.js';
import type { Histogram, Ledger, Quantity } from '../../measure/result.js';
import { TIMELINE_STEP_NS } from '../../workers/messaging-api.js';
import { HTTP_METRICS, httpFigures } from './http-share.js';
import type { MessagingOptions } from './options.js';
import type { TrialRecord } from './trial.js';

/** Bodies of the wrong length are no messages of ours; both halves of a window need steps to be compared. */
const FEWEST_STEPS_FOR_HALVES = 4;
/** The connections an adapter opens for one worker: the shared one and, for a consumer, one that blocks. */
const CONNECTIONS = { producer: 1, consumer: 2, monitor: 1 };

const LATENCY = [
  ['latencyP50', 'Median time from the intended send to handled.', 'median'],
  ['latencyP99', '99th percentile of the time from the intended send to handled.', 'p99'],
] as const;
/** Filling and emptying the loop must be a small part of the window for Little's law to be asked. */
const LOOPS_FOR_LITTLE = 10;

/** What is measured in each mode, and which of it is compared. */
export function messagingMetrics({
  mode,
  via,
}: Pick<MessagingOptions, 'mode' | 'via'>): readonly MetricDefinition[] {
  const latency = LATENCY.map(
    ([name, description, percentile]): MetricDefinition => ({
      name,
      unit: 'ns',
      better: 'lower',
      compared: mode === 'rate',
      comparison: `has {ratio} times the ${percentile} latency of`,
      description,
    }),
  );
  const throughput: MetricDefinition = {
    name: 'throughput',
    unit: 'msg/s',
    better: 'higher',
    compared: mode === 'capacity',
    comparison: 'handles {ratio} times as many messages per second as',
    description: 'Messages handled per second, from the first send to the last message handled.',
  };
  const sendRate: MetricDefinition = {
    name: 'sendRate',
    unit: 'msg/s',
    better: 'neither',
    compared: false,
    description:
      'Messages acknowledged by Redis per second, from the first send to the last acknowledgement.',
  };
  if (mode !== 'backlog') {
    return [throughput, sendRate, ...latency, ...(via.kind === 'http' ? HTTP_METRICS : [])];
  }
  const drainRate: MetricDefinition = {
    name: 'drainRate',
    unit: 'msg/s',
    better: 'higher',
    compared: true,
    comparison: 'drains a backlog {ratio} times as fast as',
    description: 'Messages handled per second while a backlog is worked off, from the start of the consumer.',
  };
  return [drainRate, sendRate];
}

/** Turns what a trial brought home into figures, without judging them. */
export function measurementOf(record: TrialRecord): Measurement {
  const { options, pattern, sends, deliveries } = record;
  const ledger = settle(
    sends.map((report) => report.sends),
    deliveries.map((report) => report.deliveries),
    whereOf(record),
    { fanOut: pattern.capabilities.fanOut },
  );
  const latency = mergeHistograms(deliveries.map((report) => report.latency));
  const resources: Measurement['resources'] = {
    producer: sumResources(record.producerResources),
    // Of a consumer service that the user runs only its driver is ours to measure, and that says nothing.
    ...(isRemote(options) ? {} : { consumer: sumResources(record.consumerResources) }),
  };
  const paced = options.mode === 'rate';
  return {
    metrics: metricsOf(record, ledger, latency),
    histograms: options.mode === 'backlog' ? {} : { latency },
    ledger,
    resources,
    redis: record.redis,
    limitedBy: limitedBy({
      resources,
      redis: record.redis,
      cpuCount: cpus().length,
      paced,
      processes: { producer: record.producerResources.length, consumer: options.consumers },
    }),
    observations: observationsOf(record, ledger, latency),
  };
}

function metricsOf(
  { options, sends, deliveries }: TrialRecord,
  ledger: Ledger,
  latency: Histogram,
): Record<string, Quantity> {
  const { firstSendNs, lastAcknowledgedNs, firstHandledNs, lastHandledNs, startedNs } = edges(
    sends,
    deliveries,
  );
  const rate = (count: number, from: Nanoseconds, to: Nanoseconds): Quantity => ({
    value: to > from ? (count * NANOSECONDS_PER_SECOND) / (to - from) : 0,
    unit: 'msg/s',
  });
  const sendRate = rate(ledger.acknowledged, firstSendNs, lastAcknowledgedNs);
  if (options.mode === 'backlog')
    return { drainRate: rate(ledger.delivered, startedNs, lastHandledNs), sendRate };
  const throughput = rate(
    ledger.delivered,
    firstHandledNs === 0 ? lastHandledNs : firstSendNs,
    lastHandledNs,
  );
  const histogram = decodeHistogram(latency);
  const percentiles = { latencyP50: histogram.percentile(0.5), latencyP99: histogram.percentile(0.99) };
  const known = Object.entries(percentiles).flatMap(([name, value]): [string, Quantity][] =>
    value === null ? [] : [[name, { value, unit: 'ns' }]],
  );
  return { throughput, sendRate, ...Object.fromEntries(known), ...httpFigures(sends) };
}

/** Edges of the window. All workers of a local fleet share one monotonic clock. */
function edges(sends: TrialRecord['sends'], deliveries: TrialRecord['deliveries']) {
  const seen = (times: readonly Nanoseconds[]): Nanoseconds[] => times.filter((time) => time > 0);
  const first = (times: readonly Nanoseconds[]): Nanoseconds => Math.min(...seen(times));
  const last = (times: readonly Nanoseconds[]): Nanoseconds => Math.max(0, ...times);
  const orZero = (time: Nanoseconds): Nanoseconds => (Number.isFinite(time) ? time : 0);
  return {
    firstSendNs: orZero(first(sends.map((report) => report.firstSendNs))),
    lastAcknowledgedNs: last(sends.map((report) => report.lastAcknowledgedNs)),
    firstHandledNs: orZero(first(deliveries.map((report) => report.firstHandledNs))),
    lastHandledNs: last(deliveries.map((report) => report.lastHandledNs)),
    startedNs: orZero(first(deliveries.map((report) => report.startedNs))),
  };
}

function whereOf({ stateAfter, keyType, deliveries }: TrialRecord): Ledger['where'] {
  return {
    inList: keyType === 'list' ? stateAfter.unread : 0,
    inProcessing: 0,
    unread: keyType === 'list' ? 0 : stateAfter.unread,
    pending: stateAfter.pending,
    trimmed: deliveries.reduce((sum, { counters }) => sum + counters.trimmed, 0),
    deadLettered: stateAfter.deadLettered,
  };
}

function observationsOf(record: TrialRecord, ledger: Ledger, latency: Histogram): Observations {
  const { options, sends, deliveries, stops, stateAfter, machine, managed } = record;
  const { firstSendNs, lastHandledNs } = edges(sends, deliveries);
  const schedules = sends.flatMap(({ schedule }) => (schedule === undefined ? [] : [schedule]));
  const halves = halvesOf(deliveries);
  const ours =
    [...record.producerResources, ...record.consumerResources].reduce((sum, { cpu }) => sum + cpu, 0) +
    record.redis.cpu;
  return {
    keysAtStart: record.keysAtStart,
    leftAfterDrain: stateAfter.unread + stateAfter.pending,
    drainDeadlinePassed: stops.some(({ drained }) => !drained),
    warmUp: record.warmUp,
    ...(halves === undefined ? {} : { halves }),
    ...(schedules.length === 0
      ? {}
      : {
          schedule: {
            sends: schedules.reduce((sum, report) => sum + report.sends, 0),
            late: schedules.reduce((sum, report) => sum + report.late, 0),
            allowanceNs: Math.max(...schedules.map(({ allowanceNs }) => allowanceNs)),
            worstNs: Math.max(...schedules.map(({ worstNs }) => worstNs)),
          },
        }),
    declared: declaredOf(record, ledger),
    serverCounts: serverCountsOf(record, ledger),
    measuredSeconds: Math.max(0, lastHandledNs - firstSendNs) / NANOSECONDS_PER_SECOND,
    latencySamples: latency.count,
    ...closedLoopOf(record, ledger, latency),
    reportedPercentile: 0.99,
    paced: options.mode === 'rate',
    stealShare: machine.stealShare,
    ...(managed ? { otherCpu: Math.max(0, machine.busyCores - ours) } : {}),
  };
}

/** What Little's law relates, when the loop was full for most of the window. */
function closedLoopOf(
  record: TrialRecord,
  ledger: Ledger,
  latency: Histogram,
): Pick<Observations, 'closedLoop'> {
  const { mode, inFlight, via } = record.options;
  const meanLatencyNs = decodeHistogram(latency).mean;
  const perSecond = metricsOf(record, ledger, latency).throughput?.value;
  // Over HTTP the connections hold fewer messages than the loop would let through.
  const isFull =
    mode === 'capacity' && via.kind === 'direct' && ledger.delivered >= LOOPS_FOR_LITTLE * inFlight;
  if (!isFull || meanLatencyNs === null || perSecond === undefined) return {};
  return { closedLoop: { inFlight, perSecond, meanLatencyNs } };
}

/** Handling rate of both halves of the time from the first to the last message handled. */
function halvesOf(deliveries: TrialRecord['deliveries']): readonly [number, number] | undefined {
  const active = deliveries.filter(({ firstHandledNs }) => firstHandledNs > 0);
  if (active.length === 0) return undefined;
  const began = Math.min(...active.map(({ firstHandledNs }) => firstHandledNs));
  const ended = Math.max(...active.map(({ lastHandledNs }) => lastHandledNs));
  if (ended - began < FEWEST_STEPS_FOR_HALVES * TIMELINE_STEP_NS) return undefined;
  const middle = (began + ended) / 2;
  let first = 0;
  let second = 0;
  for (const { firstHandledNs, timeline } of active) {
    timeline.forEach((count, step) => {
      const from = firstHandledNs + step * TIMELINE_STEP_NS;
      // A step that lies across the middle is shared out by time.
      const before = Math.min(1, Math.max(0, (middle - from) / TIMELINE_STEP_NS));
      first += count * before;
      second += count * (1 - before);
    });
  }
  const seconds = (ended - began) / 2 / NANOSECONDS_PER_SECOND;
  return [first / seconds, second / seconds];
}

function declaredOf(record: TrialRecord, ledger: Ledger): NonNullable<Observations['declared']> {
  const { options, sends, deliveries, redis, managed } = record;
  const writes = sends.reduce((sum, report) => sum + report.writes, 0);
  const damaged = deliveries.reduce((sum, report) => sum + report.damaged, 0);
  return [
    ...(options.mode === 'rate'
      ? []
      : [
          {
            what: 'messages per send',
            declared: Math.min(options.bulk, ledger.attempted / options.producers),
            observed: writes === 0 ? 0 : ledger.attempted / writes,
            tolerance: 0.1,
          },
        ]),
    {
      what: 'bodies of the declared length',
      declared: ledger.delivered,
      observed: ledger.delivered - damaged,
      tolerance: 0,
    },
    // Others may be connected to a Redis that is not ours.
    ...(managed
      ? [
          {
            what: 'connections',
            declared:
              options.producers * CONNECTIONS.producer +
              options.consumers * CONNECTIONS.consumer +
              CONNECTIONS.monitor,
            observed: redis.connections,
            tolerance: 0,
          },
        ]
      : []),
  ];
}

/** What the server counted must agree with the ledger, where nobody else uses the server. */
function serverCountsOf(
  { managed, pattern, redis, options, storedRows, warmUpSent }: TrialRecord,
  ledger: Ledger,
): NonNullable<Observations['serverCounts']> {
  const relation = ledger.failed + ledger.unknown === 0 ? 'exact' : 'at-least';
  const sent =
    managed && options.mode !== 'backlog'
      ? pattern.commands.send
          .filter(({ per }) => per === 'message')
          .map(
            ({ name }) =>
              ({
                what: `${name} calls`,
                ledger: ledger.acknowledged,
                server: redis.commandstats[name.toLowerCase()]?.calls ?? 0,
                relation,
              }) as const,
          )
      : [];
  if (storedRows === undefined) return sent;
  return [
    ...sent,
    {
      what: 'rows in the store',
      ledger: ledger.delivered + warmUpSent,
      server: storedRows,
      relation: 'exact',
    },
  ];
}

function isRemote({ via }: MessagingOptions): boolean {
  return via.kind === 'http' && via.remote !== undefined;
}
