import type { MessagingPattern, PatternState, StopReport } from '@weir/patterns';
import type { Nanoseconds } from '../../core/units.js';
import type { Fault, Persistence } from '../../faults/fault.js';
import type { Measurement } from '../../measure/measurement.js';
import type { ProducerReport } from '../../workers/messaging-api.js';
import type { Journal } from './journal.js';
import type { FaultsOptions } from './options.js';

/** Everything a trial brought home, for `measurementOf`. */
export interface FaultRecord {
  readonly pattern: MessagingPattern;
  readonly fault: Fault;
  readonly persistence: Persistence;
  readonly options: FaultsOptions;
  readonly payloadBytes: number;
  /** Of the producer whose messages met the fault. */
  readonly producer: string;
  readonly sends: ProducerReport;
  readonly journal: Journal;
  readonly consumers: readonly string[];
  readonly struckAtNs: Nanoseconds | undefined;
  readonly resumed: boolean;
  readonly reordered: number;
  readonly deadLettered: number;
  readonly counters: readonly StopReport['counters'][];
  readonly drained: boolean;
  readonly stateAfter: PatternState;
  readonly isList: boolean;
  readonly storedRows: number;
  readonly redis: Measurement['redis'];
}
