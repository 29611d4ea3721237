import { cpus } from 'node:os';
import { NANOSECONDS_PER_SECOND } from '../../core/units.js';
import { decodeHistogram, mergeHistograms } from '../../measure/histogram.js';
import { emptyLedger } from '../../measure/ledger.js';
import { limitedBy } from '../../measure/limited-by.js';
import type { Measurement, MetricDefinition, Observations } from '../../measure/measurement.js';
import { sumResources } from '../../measure/resources.js';
import type { Histogram, Ledger, Quantity } from '../../measure/result.js';
import { coefficientOfVariation } from '../../measure/statistics.js';
import { type PointLoadReport, TENTHS } from '../../workers/point-api.js';
import { halvesOf, tenthsOf, throughputOf, totals } from './answers.js';
import { declaredOf, serverCountsOf } from './declared.js';
import type { ConnectionsOptions } from './options.js';
import type { TrialRecord } from './trial.js';

/** METHOD, "Trials and rounds" 4. */
const SETTLED_VARIATION = 0.02;
/** Below it a half of the window is one hiccup long. */
const SECONDS_FOR_HALVES = 0.5;

export function connectionsMetrics({ rates, givenApps }: ConnectionsOptions): readonly MetricDefinition[] {
  const isOpen = rates.length > 0;
  const what = isOpen ? 'intended time of a request' : 'request';
  const latency = (name: string, percentile: string): MetricDefinition => ({
    name,
    unit: 'ns',
    better: 'lower',
    compared: isOpen,
    comparison: `has {ratio} times the ${percentile} latency of`,
    description: `From the ${what} to its answer.${isOpen ? '' : ' Saturated: no service latency.'}`,
  });
  const plain = (name: string, unit: string, description: string): MetricDefinition => ({
    ...{ name, unit, description },
    better: 'neither',
    compared: false,
  });
  return [
    {
      name: 'throughput',
      unit: 'req/s',
      better: 'higher',
      compared: !isOpen,
      comparison: 'answers {ratio} times as many requests per second as',
      description: 'Requests answered with 2xx per second, from when all users are connected.',
    },
    latency('latencyP50', 'median'),
    latency('latencyP99', 'p99'),
    ...(givenApps.length > 0
      ? []
      : [plain('appCpuPerRequest', 'ns', 'CPU time of all apps for each request.')]),
    plain('redisCpuPerRequest', 'ns', 'CPU time of Redis for each request, connections and PINGs included.'),
    plain('connections', '1', 'Most connections of Redis seen at once, ours that watches included.'),
    plain('connectionsPerRequest', '1', 'Connections made for each request: the churn.'),
    plain('commandsPerRequest', '1', 'Commands Redis carried out for each request, handshakes included.'),
    plain(
      'readsPerRequest',
      '1',
      'Reads of Redis from its sockets for each request; below 1, it read several requests at once.',
    ),
  ];
}

/** Turns what a trial brought home into figures, without judging them. */
export function measurementOf(record: TrialRecord): Measurement {
  const { load, window, options } = record;
  const { reports, producerResources, appResources, redis } = window;
  const latency = mergeHistograms(reports.map((report) => report.latency));
  const services = reports.flatMap(({ service }) => service ?? []);
  const producer = sumResources(producerResources);
  const resources: Measurement['resources'] =
    appResources.length === 0 ? { producer } : { producer, app: sumResources(appResources) };
  return {
    metrics: metricsOf(record, latency),
    histograms: services.length === 0 ? { latency } : { latency, service: mergeHistograms(services) },
    ledger: ledgerOf(reports),
    resources,
    redis,
    limitedBy: limitedBy({
      ...{ resources, redis, cpuCount: cpus().length, paced: load.mode === 'open' },
      processes: { producer: options.producers, app: Math.max(1, appResources.length) },
    }),
    observations: observationsOf(record, latency),
  };
}

/** A request is attempted when it is sent, acknowledged with 2xx, failed with anything else; or nobody answered. */
function ledgerOf(reports: readonly PointLoadReport[]): Ledger {
  const { attempted, succeeded, refused } = totals(reports);
  return {
    ...emptyLedger(),
    attempted,
    acknowledged: succeeded,
    failed: refused,
    unknown: attempted - succeeded - refused,
    delivered: succeeded,
  };
}

function metricsOf({ window }: TrialRecord, latency: Histogram): Record<string, Quantity> {
  const { reports, redis, seen, seconds, appResources, reads } = window;
  const answered = Math.max(1, totals(reports).succeeded + totals(reports).refused);
  const cpuTime = (cores: number): Quantity => ({
    value: (cores * seconds * NANOSECONDS_PER_SECOND) / answered,
    unit: 'ns',
  });
  const { percentile } = decodeHistogram(latency);
  const percentiles = { latencyP50: percentile(0.5), latencyP99: percentile(0.99) };
  const known = Object.entries(percentiles).flatMap(([name, value]): [string, Quantity][] =>
    value === null ? [] : [[name, { value, unit: 'ns' }]],
  );
  return {
    throughput: { value: throughputOf(reports), unit: 'req/s' },
    ...Object.fromEntries(known),
    ...(appResources.length === 0 ? {} : { appCpuPerRequest: cpuTime(sumResources(appResources).cpu) }),
    redisCpuPerRequest: cpuTime(redis.cpu),
    connections: { value: seen.most, unit: '1' },
    connectionsPerRequest: { value: redis.connectionsMade / answered, unit: '1' },
    // The looks at connections, and the second look at all counters, are not the apps'.
    commandsPerRequest: { value: Math.max(0, redis.commands - seen.looks - 1) / answered, unit: '1' },
    ...(reads === undefined
      ? {}
      : { readsPerRequest: { value: Math.max(0, reads - seen.looks - 1) / answered, unit: '1' } }),
  };
}

function observationsOf(record: TrialRecord, latency: Histogram): Observations {
  const { options, load, window, managed, keysAtStart } = record;
  const { reports, machine, redis, producerResources, appResources } = window;
  const meanLatencyNs = decodeHistogram(latency).mean;
  const schedules = reports.flatMap(({ schedule }) => schedule ?? []);
  const seconds = load.forMs / 1000;
  const ours = [...producerResources, ...appResources].reduce((sum, { cpu }) => sum + cpu, redis.cpu);
  return {
    ...(keysAtStart === undefined ? {} : { keysAtStart }),
    warmUp: warmUpOf(record.warmUp),
    ...(seconds >= SECONDS_FOR_HALVES ? { halves: halvesOf(reports, seconds) } : {}),
    ...(load.mode === 'closed' && meanLatencyNs !== null
      ? { closedLoop: { inFlight: options.users, perSecond: throughputOf(reports), meanLatencyNs } }
      : {}),
    ...(schedules.length === 0
      ? {}
      : {
          schedule: {
            sends: schedules.reduce((sum, { sends }) => sum + sends, 0),
            late: schedules.reduce((sum, { late }) => sum + late, 0),
            allowanceNs: Math.max(...schedules.map(({ allowanceNs }) => allowanceNs)),
            worstNs: Math.max(...schedules.map(({ worstNs }) => worstNs)),
          },
        }),
    declared: declaredOf(record),
    serverCounts: serverCountsOf(record),
    measuredSeconds: seconds,
    latencySamples: latency.count,
    reportedPercentile: 0.99,
    paced: load.mode === 'open',
    stealShare: machine.stealShare,
    ...(managed && appResources.length > 0 ? { otherCpu: Math.max(0, machine.busyCores - ours) } : {}),
  };
}

/** Settled when the last five of its tenths vary by 2 % or less. */
function warmUpOf(reports: readonly PointLoadReport[]): NonNullable<Observations['warmUp']> {
  const variation = coefficientOfVariation(tenthsOf(reports).slice(TENTHS / 2));
  return {
    settled: variation !== null && variation <= SETTLED_VARIATION,
    variation: variation ?? 1,
    seconds: (reports[0]?.windowNs ?? 0) / NANOSECONDS_PER_SECOND,
  };
}
