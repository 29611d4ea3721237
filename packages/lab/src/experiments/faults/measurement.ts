import { NANOSECONDS_PER_MILLISECOND } from '../../core/units.js';
import { settle } from '../../measure/ledger.js';
import type { Measurement, MetricDefinition } from '../../measure/measurement.js';
import type { Ledger, Quantity } from '../../measure/result.js';
import { judge, type Outcome, promiseOf } from './guarantee.js';
import type { FaultRecord } from './record.js';

const COUNTS = [
  ['lost', 'Acknowledged messages that were never handled.'],
  ['duplicated', 'Deliveries of a message that had been handled before.'],
  ['reordered', 'Messages whose first delivery came after that of a later one.'],
  ['deadLettered', 'Messages given up into the dead letters, before those were sent again.'],
  ['failedSends', 'Sends that Redis refused or that were never written.'],
  ['unknownSends', 'Sends whose answer never came.'],
] as const;

/** Nothing is compared: a promise is kept or broken. */
export const FAULT_METRICS: readonly MetricDefinition[] = [
  ...COUNTS.map(
    ([name, description]): MetricDefinition => ({
      name,
      unit: 'messages',
      better: 'lower',
      compared: false,
      description,
    }),
  ),
  {
    name: 'recovery',
    unit: 'ms',
    better: 'lower',
    compared: false,
    description: 'From the moment the fault strikes until a message sent after that moment has been handled.',
  },
];

/** Turns what a trial brought home into figures, and holds them against the promise. */
export function measurementOf(record: FaultRecord): Measurement {
  const { pattern, fault, options, sends, journal, stateAfter, drained, storedRows, payloadBytes } = record;
  const ledger = settle(
    [sends.sends],
    journal.deliveries(record.producer, record.consumers),
    whereOf(record),
    { fanOut: pattern.capabilities.fanOut },
  );
  return {
    metrics: metricsOf(record, ledger),
    histograms: {},
    ledger,
    resources: {},
    redis: record.redis,
    limitedBy: 'none',
    guarantee: judge(
      promiseOf({
        capabilities: pattern.capabilities,
        kind: fault.kind,
        handler: fault.handler,
        persistence: record.persistence,
        refused: refusedOf(record),
        batch: options.batch,
        consumers: record.consumers.length,
        strikes: fault.strikes ?? 1,
        isTransactional: options.offset === 'store' && pattern.capabilities.storedOffset === true,
      }),
      outcomeOf(record, ledger),
    ),
    observations: {
      faultInjected: fault.kind !== 'none',
      leftAfterDrain: stateAfter.unread + stateAfter.pending,
      drainDeadlinePassed: !drained,
      paced: true,
      declared: [
        {
          what: 'bodies of the declared length',
          declared: journal.size,
          observed: journal.size - journal.damaged(payloadBytes),
          tolerance: 0,
        },
      ],
      serverCounts: options.storeIsOurs
        ? [{ what: 'rows in the store', ledger: journal.distinct, server: storedRows, relation: 'exact' }]
        : [],
    },
  };
}

function metricsOf(record: FaultRecord, ledger: Ledger): Record<string, Quantity> {
  const count = (value: number): Quantity => ({ value, unit: 'messages' });
  const { struckAtNs, journal } = record;
  const handledAtNs = struckAtNs === undefined ? undefined : journal.firstHandledSentAfter(struckAtNs);
  return {
    lost: count(ledger.lost),
    duplicated: count(ledger.duplicated),
    reordered: count(record.reordered),
    deadLettered: count(record.deadLettered),
    failedSends: count(ledger.failed),
    unknownSends: count(ledger.unknown),
    ...(struckAtNs === undefined || handledAtNs === undefined
      ? {}
      : { recovery: { value: (handledAtNs - struckAtNs) / NANOSECONDS_PER_MILLISECOND, unit: 'ms' } }),
  };
}

function outcomeOf({ counters, reordered, deadLettered, resumed }: FaultRecord, ledger: Ledger): Outcome {
  const sum = (name: 'dropped' | 'trimmed' | 'disconnects'): number =>
    counters.reduce((total, own) => total + own[name], 0);
  return {
    ledger,
    reordered,
    deadLettered,
    resumed,
    counted: { dropped: sum('dropped'), trimmed: sum('trimmed'), disconnects: sum('disconnects') },
  };
}

/** How many of the acknowledged messages the handler is to refuse. */
function refusedOf({ fault, options, sends }: FaultRecord): number {
  if (fault.handler === undefined) return 0;
  return fault.handler === 'poison' ? 1 : Math.floor(sends.attempted / options.every);
}

function whereOf({ stateAfter, isList, counters }: FaultRecord): Ledger['where'] {
  return {
    inList: isList ? stateAfter.unread : 0,
    inProcessing: isList ? stateAfter.pending : 0,
    unread: isList ? 0 : stateAfter.unread,
    pending: isList ? 0 : stateAfter.pending,
    trimmed: counters.reduce((sum, { trimmed }) => sum + trimmed, 0),
    deadLettered: stateAfter.deadLettered,
  };
}
