import { cpus } from 'node:os';
import { NANOSECONDS_PER_SECOND } from '../../core/units.js';
import { emptyLedger } from '../../measure/ledger.js';
import { limitedBy } from '../../measure/limited-by.js';
import type { Measurement, MetricDefinition, Observations } from '../../measure/measurement.js';
import type { Ledger } from '../../measure/result.js';
import { coefficientOfVariation } from '../../measure/statistics.js';
import type { Method } from '../../workers/pipelining-api.js';
import { makeOperations } from '../../workers/pipelining-operations.js';
import type { TrialRecord } from './trial.js';

/** METHOD, "Trials and rounds" 4. */
const SETTLED_VARIATION = 0.02;
/** Redis reads this much at a time (PROTO_IOBUF_LEN, server.h); a longer round takes several reads. */
const SERVER_READ_BYTES = 16 * 1024;
/** Sockets cut a long write where they like: within this factor the depth is the declared one. */
const LONG_ROUND_TOLERANCE = 0.75;
const SHORT_ROUND_TOLERANCE = 0.1;
/**
 * How many of these leave in one write is for the library to decide (one each in ioredis, some dozens in valkey-glide);
 * it is shown as `commandsPerRead` and promised by nobody.
 */
const LEFT_TO_THE_LIBRARY: ReadonlySet<Method> = new Set(['promise-all', 'auto-pipelining']);
/** Below it a half of the window is one hiccup long. */
const SECONDS_FOR_HALVES = 0.5;

export function pipeliningMetrics(): readonly MetricDefinition[] {
  return [
    {
      name: 'throughput',
      unit: 'op/s',
      better: 'higher',
      compared: true,
      description: 'Operations answered per second, from the first write to the last answer.',
    },
    {
      name: 'pingRoundTrip',
      unit: 'ns',
      better: 'neither',
      compared: false,
      description: 'Median round trip of PING from the client process, over the same way, before the load.',
    },
    {
      name: 'clientMemory',
      unit: 'B',
      better: 'lower',
      compared: false,
      description: 'Largest resident memory of the client process while it worked.',
    },
    {
      name: 'commandsPerRead',
      unit: '1',
      better: 'neither',
      compared: false,
      description: 'Operations per read of the server from its sockets: the depth as Redis saw it.',
    },
  ];
}

/** Turns what a trial brought home into figures, without judging them. */
export function measurementOf(record: TrialRecord): Measurement {
  const { report, resources, redis, reads, pingNs } = record;
  const seconds = report.elapsedNs / NANOSECONDS_PER_SECOND;
  return {
    metrics: {
      throughput: { value: report.ok / seconds, unit: 'op/s' },
      pingRoundTrip: { value: pingNs, unit: 'ns' },
      clientMemory: { value: resources.rssPeakBytes, unit: 'B' },
      ...(reads !== undefined && reads > 0
        ? { commandsPerRead: { value: report.ok / reads, unit: '1' } }
        : {}),
    },
    histograms: {},
    ledger: ledgerOf(record),
    // Not `producer`: the client is what is measured, not a generator that should stay out of the way.
    resources: { client: resources },
    redis,
    limitedBy: limitedBy({
      resources: { producer: resources },
      redis,
      cpuCount: cpus().length,
      // Waiting for the network is the pace that a round trip sets.
      paced: (resources.eventLoop ?? 1) < 0.5,
      processes: { producer: 1 },
    }),
    observations: observationsOf(record, seconds),
  };
}

/** Every operation has one fate; one with a wrong answer counts as lost. */
function ledgerOf({ report }: TrialRecord): Ledger {
  return {
    ...emptyLedger(),
    attempted: report.attempted,
    acknowledged: report.ok,
    failed: report.failed,
    unknown: report.unknown,
    delivered: report.ok - report.wrong,
    lost: report.wrong,
  };
}

function observationsOf(record: TrialRecord, seconds: number): Observations {
  const { keysAtStart, warmUp, report, machine, managed, redis, resources } = record;
  const variation = coefficientOfVariation(warmUp.fifths);
  return {
    keysAtStart,
    warmUp: {
      settled: variation !== null && variation <= SETTLED_VARIATION,
      variation: variation ?? 1,
      seconds: warmUp.seconds,
    },
    ...(report.halves !== undefined && seconds >= SECONDS_FOR_HALVES ? { halves: report.halves } : {}),
    declared: managed ? declaredOf(record) : [],
    serverCounts: serverCountsOf(record),
    measuredSeconds: seconds,
    stealShare: machine.stealShare,
    ...(managed ? { otherCpu: Math.max(0, machine.busyCores - redis.cpu - resources.cpu) } : {}),
  };
}

function declaredOf(record: TrialRecord): NonNullable<Observations['declared']> {
  const { settings, report, reads, redis } = record;
  const connections = { what: 'connections', declared: 2, observed: redis.connections, tolerance: 0 };
  const rounds = {
    what: 'operations per round trip',
    declared: settings.method === 'sequential' ? 1 : Math.min(settings.depth, settings.operations),
    observed: report.rounds === 0 ? 0 : report.attempted / report.rounds,
    // The last round of a pass may be shorter.
    tolerance: settings.depth > 1 ? shortestPass(settings.depth, settings.operations) : 0,
  };
  if (reads === undefined || LEFT_TO_THE_LIBRARY.has(settings.method)) return [connections, rounds];
  const perRound = readsPerRound(record);
  return [
    connections,
    rounds,
    {
      what: 'operations per read of the server',
      declared: rounds.observed / perRound,
      observed: report.attempted / reads,
      tolerance: perRound === 1 ? SHORT_ROUND_TOLERANCE : LONG_ROUND_TOLERANCE,
    },
  ];
}

/** By how much the mean round of a pass is smaller than a full one. */
function shortestPass(depth: number, operations: number): number {
  const mean = operations / Math.ceil(operations / depth);
  return 1 - mean / Math.min(depth, operations) + 1e-9;
}

function readsPerRound({ settings }: TrialRecord): number {
  if (settings.method === 'sequential') return 1;
  const command = makeOperations({ ...settings, operations: 1 }).command(0);
  const bytes = command.reduce(
    (sum, argument) => sum + `$${argument.length}\r\n\r\n`.length + argument.length,
    4,
  );
  return Math.ceil((Math.min(settings.depth, settings.operations) * bytes) / SERVER_READ_BYTES);
}

/** What the server counted and holds must agree with the answers. */
function serverCountsOf(record: TrialRecord): NonNullable<Observations['serverCounts']> {
  const { settings, report, managed, redis, newKeys, state } = record;
  const relation = report.failed + report.unknown === 0 ? 'exact' : 'at-least';
  const held = { what: state.what, ledger: state.expected, server: state.found, relation } as const;
  if (!managed) return [held];
  const keys = { set: settings.operations, incr: settings.operations, get: 0, xadd: 1 }[settings.command];
  const { name, calls } = callsOf(record);
  return [
    held,
    { what: 'new keys', ledger: Math.min(keys, report.ok), server: newKeys, relation },
    {
      what: `${name.toUpperCase()} calls`,
      ledger: calls,
      server: redis.commandstats[name]?.calls ?? 0,
      relation,
    },
  ];
}

function callsOf({ settings, report }: TrialRecord): { readonly name: string; readonly calls: number } {
  if (settings.method !== 'mset') return { name: settings.command, calls: report.ok };
  return { name: settings.command === 'get' ? 'mget' : 'mset', calls: report.rounds };
}
