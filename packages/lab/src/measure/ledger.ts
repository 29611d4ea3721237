import type { DeliverySnapshot } from './delivery-ledger.js';
import type { Ledger } from './result.js';
import type { SendSnapshot } from './send-ledger.js';

export { DeliveryLedger, type DeliveryOverflow, type DeliverySnapshot } from './delivery-ledger.js';
export { SendLedger, type SendSnapshot } from './send-ledger.js';

/**
 * The fate of every message: what the producers say of the sends, joined by producer and sequence number with what the
 * consumers say of the deliveries.
 *
 * ```
 * attempted ─┬─ acknowledged ─┬─ delivered                     attempted = acknowledged + failed + unknown
 *            │                └─ lost                          delivered = acknowledged - lost + recovered
 *            ├─ failed ──┬─ delivered after all: recovered     recovered <= failed + unknown
 *            └─ unknown ─┴─ not delivered                      lost <= acknowledged
 * ```
 *
 * `duplicated` and `outOfOrder` count deliveries, not messages, and stand beside these sums, as does `unexpected`. So
 * does `where`: Redis may still hold a message that was handled and not yet acknowledged.
 */
export interface SettleOptions {
  /**
   * Every consumer is to get every message. A message then counts as delivered when all consumers handled it, as lost
   * when one did not, and as duplicated when the same consumer handled it again. Default false: consumers compete, and
   * any one of them delivers.
   */
  readonly fanOut?: boolean;
}

/**
 * @param sends      one snapshot per producer, in the order the consumers know them by
 * @param deliveries one snapshot per consumer
 * @param where      where Redis says undelivered messages are
 */
export function settle(
  sends: readonly SendSnapshot[],
  deliveries: readonly DeliverySnapshot[],
  where: Ledger['where'],
  { fanOut = false }: SettleOptions = {},
): Ledger {
  const total = emptyLedger();
  for (const [index, sent] of sends.entries()) {
    const counts = deliveries.map((delivery) => delivery.counts[index] ?? new Uint8Array());
    const needed = fanOut ? Math.max(1, counts.length) : 1;
    let delivered = 0;
    for (let sequence = 0; sequence < sent.attempted; sequence++) {
      const { handlers, handled } = handledBy(counts, sequence);
      if (handlers >= needed) delivered++;
      total.duplicated += handled - (fanOut ? handlers : Math.min(1, handlers));
    }
    const exceptions = [...sent.failed, ...sent.unknown];
    const recovered = exceptions.filter((sequence) => handledBy(counts, sequence).handlers >= needed).length;
    total.attempted += sent.attempted;
    total.acknowledged += sent.acknowledged;
    total.failed += sent.failed.length;
    total.unknown += sent.unknown.length;
    total.delivered += delivered;
    total.recovered += recovered;
    total.lost += Math.max(0, sent.acknowledged - (delivered - recovered));
  }
  for (const delivery of deliveries) {
    total.outOfOrder += delivery.outOfOrder;
    total.unexpected += delivery.unexpected + neverSent(delivery, sends);
    for (const { producer, sequence, extra } of delivery.overflow) {
      if (sequence < attemptedBy(sends, producer)) total.duplicated += extra;
    }
  }
  return { ...total, where: { ...where } };
}

/** Consumers that handled the message, and how often in all. */
function handledBy(counts: readonly Uint8Array[], sequence: number): { handlers: number; handled: number } {
  let handlers = 0;
  let handled = 0;
  for (const bytes of counts) {
    const times = bytes[sequence] ?? 0;
    if (times > 0) handlers++;
    handled += times;
  }
  return { handlers, handled };
}

/** Deliveries that carry a sequence number its producer never used. */
function neverSent(delivery: DeliverySnapshot, sends: readonly SendSnapshot[]): number {
  let count = 0;
  for (const [producer, bytes] of delivery.counts.entries()) {
    for (const times of bytes.subarray(attemptedBy(sends, producer))) count += times;
  }
  for (const { producer, sequence, extra } of delivery.overflow) {
    if (sequence >= attemptedBy(sends, producer)) count += extra;
  }
  return count;
}

function attemptedBy(sends: readonly SendSnapshot[], producer: number): number {
  return sends[producer]?.attempted ?? 0;
}

/** The equations above that do not hold, each in words with its figures. Empty when the ledger balances. */
export function ledgerImbalances(ledger: Ledger): string[] {
  const { attempted, acknowledged, failed, unknown, delivered, recovered, lost } = ledger;
  const equations: readonly [holds: boolean, words: string][] = [
    [
      attempted === acknowledged + failed + unknown,
      `attempted ${attempted} is not acknowledged ${acknowledged} + failed ${failed} + unknown ${unknown}`,
    ],
    [
      delivered === acknowledged - lost + recovered,
      `delivered ${delivered} is not acknowledged ${acknowledged} - lost ${lost} + recovered ${recovered}`,
    ],
    [
      recovered <= failed + unknown,
      `recovered ${recovered} is more than failed ${failed} + unknown ${unknown}`,
    ],
    [lost <= acknowledged, `lost ${lost} is more than acknowledged ${acknowledged}`],
  ];
  return equations.flatMap(([holds, words]) => (holds ? [] : [words]));
}

/** Field by field. No ledger gives one full of zeros. */
export function sumLedgers(ledgers: readonly Ledger[]): Ledger {
  const sum = emptyLedger();
  for (const ledger of ledgers) {
    for (const name of FATES) sum[name] += ledger[name];
    for (const name of PLACES) sum.where[name] += ledger.where[name];
  }
  return sum;
}

const FATES = [
  'attempted',
  'acknowledged',
  'failed',
  'unknown',
  'delivered',
  'duplicated',
  'outOfOrder',
  'unexpected',
  'recovered',
  'lost',
] as const satisfies readonly (keyof Ledger)[];
const PLACES = [
  'inList',
  'inProcessing',
  'unread',
  'pending',
  'trimmed',
  'deadLettered',
] as const satisfies readonly (keyof Ledger['where'])[];

export function emptyLedger(): Ledger {
  return {
    attempted: 0,
    acknowledged: 0,
    failed: 0,
    unknown: 0,
    delivered: 0,
    duplicated: 0,
    outOfOrder: 0,
    unexpected: 0,
    recovered: 0,
    lost: 0,
    where: { inList: 0, inProcessing: 0, unread: 0, pending: 0, trimmed: 0, deadLettered: 0 },
  };
}
