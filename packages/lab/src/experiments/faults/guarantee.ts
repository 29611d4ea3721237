import type { PatternCapabilities } from '@weir/patterns';
import type { FaultKind, HandlerFault, Persistence } from '../../faults/fault.js';
import type { Guarantee, Ledger } from '../../measure/result.js';

/** What a trial found, as far as a promise is about it. */
export interface Outcome {
  readonly ledger: Ledger;
  /** First deliveries after that of a later message. */
  readonly reordered: number;
  /** Given up into the dead letters, before those were sent again. */
  readonly deadLettered: number;
  /** Of the consumers that lived to tell. */
  readonly counted: { readonly dropped: number; readonly trimmed: number; readonly disconnects: number };
  /** Messages sent after the fault was over came through, all of them. */
  readonly resumed: boolean;
}

export interface Circumstances {
  readonly capabilities: PatternCapabilities;
  readonly kind: FaultKind;
  readonly handler: HandlerFault | undefined;
  readonly persistence: Persistence;
  /** Messages that the handler refuses at least once. */
  readonly refused: number;
  /** Messages one consumer holds at most. */
  readonly batch: number;
  readonly consumers: number;
  /** How many times something is taken away. */
  readonly strikes: number;
  /** Effects and offset are stored in one transaction. */
  readonly isTransactional: boolean;
}

/** What a pattern may do under a fault; beyond that it has broken its word. */
export interface Promised {
  /** Acknowledged messages that may be missing. */
  readonly lost: number;
  /** Repeated deliveries. */
  readonly duplicated: number;
  readonly ordered: boolean;
  /** Messages that must end in the dead letters, exactly. */
  readonly deadLettered: number;
  /** What must be counted by the consumer that lost it. */
  readonly counted?: 'dropped' | 'trimmed' | 'disconnects';
  /** In words, for the report. */
  readonly words: string;
}

const ANY = Number.POSITIVE_INFINITY;

/**
 * The cells of the table in docs/choosing-a-pattern.md as rules: what is promised follows from the capabilities a pattern
 * declares and from what the fault takes away.
 */
export function promiseOf(circumstances: Circumstances): Promised {
  const { capabilities } = circumstances;
  // Two that compete have no order between them.
  const ordered =
    capabilities.ordering === 'total' && circumstances.consumers === 1 && !losesWrites(circumstances);
  const promised =
    capabilities.delivery === 'at-least-once'
      ? atLeastOnce(circumstances)
      : capabilities.persistence
        ? atMostOnceKept(circumstances)
        : atMostOnce(circumstances);
  return { deadLettered: 0, ordered, ...promised };
}

type Part = Omit<Promised, 'ordered' | 'deadLettered'> & Partial<Pick<Promised, 'deadLettered'>>;

const NOTHING: Part = { lost: 0, duplicated: 0, words: 'nothing lost, nothing repeated' };

/** Where nothing is acknowledged, what the handler refuses is gone, and nothing else. */
function refusedOnly({ refused }: Circumstances): Part {
  return {
    lost: refused,
    duplicated: 0,
    counted: 'dropped',
    words: `exactly the ${refused} refused, counted`,
  };
}

/** Redis itself forgets what it had acknowledged. */
function losesWrites({ kind, persistence }: Circumstances): boolean {
  return kind === 'redis-data' || (kind === 'redis-process' && persistence !== 'always');
}

/** What consumers hold at the moments when something is taken away: `k` of the table. */
function heldBy({ batch, consumers, strikes }: Circumstances): number {
  return batch * consumers * strikes;
}

function atLeastOnce(circumstances: Circumstances): Part {
  const { kind, handler, isTransactional } = circumstances;
  const held = heldBy(circumstances);
  if (losesWrites(circumstances)) {
    return { lost: ANY, duplicated: ANY, words: 'only what Redis itself lost; goes on afterwards' };
  }
  switch (kind) {
    case 'handler':
      if (handler !== 'poison') return NOTHING;
      return { ...NOTHING, deadLettered: 1, words: 'nothing lost, only the poison in the dead letters' };
    case 'trim':
      return { lost: ANY, duplicated: 0, counted: 'trimmed', words: 'what was trimmed, counted exactly' };
    case 'consumer':
    case 'connection':
    case 'partition':
    case 'redis-process':
      if (isTransactional) return { lost: 0, duplicated: 0, words: 'nothing lost, every effect once' };
      return { lost: 0, duplicated: held, words: `nothing lost, at most ${held} repeated` };
    default:
      return NOTHING;
  }
}

/** A pop is not a delivery, and what was not popped waits. */
function atMostOnceKept(circumstances: Circumstances): Part {
  const { kind } = circumstances;
  const held = heldBy(circumstances);
  if (losesWrites(circumstances)) {
    return {
      lost: ANY,
      duplicated: ANY,
      words: 'what Redis itself lost and what was popped; goes on afterwards',
    };
  }
  switch (kind) {
    case 'handler':
      return refusedOnly(circumstances);
    case 'consumer':
    case 'connection':
    case 'partition':
    case 'redis-process':
      return { lost: held, duplicated: 0, words: `at most the ${held} that were popped` };
    default:
      return NOTHING;
  }
}

/** Whoever is subscribed at the moment of sending gets it. */
function atMostOnce(circumstances: Circumstances): Part {
  const { kind } = circumstances;
  switch (kind) {
    case 'handler':
      return refusedOnly(circumstances);
    case 'none':
    case 'delay':
    case 'dependency':
      return NOTHING;
    case 'consumer':
    case 'shutdown':
      return { lost: ANY, duplicated: 0, words: 'all that was sent while nobody was subscribed' };
    default:
      return {
        lost: ANY,
        duplicated: 0,
        counted: 'disconnects',
        words: 'all that was sent until it was subscribed again; the gap is counted',
      };
  }
}

/** Holds what happened against what was promised. */
export function judge(promised: Promised, outcome: Outcome): Guarantee {
  const { ledger, reordered, deadLettered, counted, resumed } = outcome;
  const broken = [
    ...(ledger.lost > promised.lost
      ? [`${ledger.lost} acknowledged messages lost, at most ${promised.lost} may be`]
      : []),
    ...(ledger.duplicated > promised.duplicated
      ? [`${ledger.duplicated} deliveries repeated, at most ${promised.duplicated} may be`]
      : []),
    ...(promised.ordered && reordered > 0 ? [`${reordered} messages came after later ones`] : []),
    ...(deadLettered === promised.deadLettered || promised.lost === ANY
      ? []
      : [`${deadLettered} dead letters, ${promised.deadLettered} belong there`]),
    ...uncounted(promised, ledger, counted),
    ...(resumed ? [] : ['messages sent after the fault did not all come through']),
  ];
  return { state: broken.length === 0 ? 'kept' : 'broken', promise: promised.words, broken };
}

function uncounted({ counted: what }: Promised, { lost }: Ledger, counted: Outcome['counted']): string[] {
  switch (what) {
    case undefined:
      return [];
    case 'disconnects':
      return lost > 0 && counted.disconnects === 0
        ? [`${lost} lost in a gap that the consumer did not count`]
        : [];
    default:
      return counted[what] === lost ? [] : [`${lost} lost, ${counted[what]} counted as ${what}`];
  }
}
