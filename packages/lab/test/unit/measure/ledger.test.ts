import { describe, expect, it } from 'vitest';
import {
  DeliveryLedger,
  emptyLedger,
  ledgerImbalances,
  SendLedger,
  settle,
  sumLedgers,
} from '../../../src/measure/ledger.js';

const nowhere = emptyLedger().where;

function sentBy({
  attempted,
  failed = [],
  unknown = [],
}: Partial<Record<'failed' | 'unknown', number[]>> & { attempted: number }) {
  const ledger = new SendLedger();
  ledger.attempt(0, attempted);
  for (const sequence of failed) ledger.fail(sequence, 'failed');
  for (const sequence of unknown) ledger.fail(sequence, 'unknown');
  return ledger.snapshot();
}

function handledBy(producers: number, ...deliveries: (readonly [producer: number, sequence: number])[]) {
  const ledger = new DeliveryLedger(producers);
  for (const [producer, sequence] of deliveries) ledger.record(producer, sequence);
  return ledger.snapshot();
}

describe('DeliveryLedger', () => {
  it('tells new from duplicate from unexpected', () => {
    const ledger = new DeliveryLedger(2);
    expect(ledger.record(0, 0)).toBe('new');
    expect(ledger.record(1, 0)).toBe('new');
    expect(ledger.record(0, 0)).toBe('duplicate');
    for (const [producer, sequence] of [
      [2, 0],
      [-1, 0],
      [0, -1],
      [0, 0.5],
      [0, 2 ** 40],
      [0, Number.NaN],
    ] as const) {
      expect(ledger.record(producer, sequence)).toBe('unexpected');
    }
    ledger.unexpected();
    expect(ledger.snapshot().unexpected).toBe(7);
  });

  it('grows by doubling and keeps what it knew', () => {
    const ledger = new DeliveryLedger(1);
    ledger.record(0, 3);
    expect(ledger.record(0, 100_000)).toBe('new');
    expect(ledger.record(0, 3)).toBe('duplicate');
    const [counts] = ledger.snapshot().counts;
    expect(counts?.length).toBe(100_001);
    expect(counts?.[3]).toBe(2);
  });

  it('counts deliveries behind a later message of the same producer', () => {
    const ledger = handledBy(2, [0, 0], [0, 2], [0, 1], [1, 5], [0, 3], [1, 4], [0, 3]);
    expect(ledger.outOfOrder).toBe(2);
  });

  it('is exact beyond 255 deliveries of a message', () => {
    const ledger = new DeliveryLedger(1);
    for (let i = 0; i < 1000; i++) ledger.record(0, 7);
    const snapshot = ledger.snapshot();
    expect(snapshot.counts[0]?.[7]).toBe(255);
    expect(snapshot.overflow).toEqual([{ producer: 0, sequence: 7, extra: 745 }]);
    expect(settle([sentBy({ attempted: 8 })], [snapshot], nowhere)).toMatchObject({
      delivered: 1,
      duplicated: 999,
      lost: 7,
    });
    // the same message, never sent
    expect(settle([sentBy({ attempted: 7 })], [snapshot], nowhere).unexpected).toBe(1000);
  });

  it('gives a snapshot that survives structured cloning and does not move on', () => {
    const ledger = new DeliveryLedger(1);
    ledger.record(0, 0);
    const snapshot = ledger.snapshot();
    ledger.record(0, 0);
    expect(structuredClone(snapshot).counts[0]?.[0]).toBe(1);
  });
});

describe('SendLedger', () => {
  it('keeps exceptions only, whatever the order of booking', () => {
    const ledger = new SendLedger();
    ledger.attempt(100, 100);
    ledger.attempt(0, 100);
    ledger.fail(5, 'failed');
    ledger.fail(150, 'unknown');
    expect(ledger.snapshot()).toEqual({ attempted: 200, acknowledged: 198, failed: [5], unknown: [150] });
  });

  it('does not hide a gap in the sequence: the ledger then does not balance', () => {
    const ledger = new SendLedger();
    ledger.attempt(0, 10);
    ledger.attempt(11, 10);
    expect(ledgerImbalances(settle([ledger.snapshot()], [handledBy(1)], nowhere))).toEqual([
      'attempted 21 is not acknowledged 20 + failed 0 + unknown 0',
    ]);
  });
});

describe('settle', () => {
  it('gives every message one fate', () => {
    const sends = [sentBy({ attempted: 6, failed: [1], unknown: [2, 3] }), sentBy({ attempted: 2 })];
    const first = handledBy(2, [0, 0], [0, 2], [1, 0]);
    const second = handledBy(2, [0, 0], [0, 4], [0, 99], [1, 7]);
    const ledger = settle(sends, [first, second], { ...nowhere, unread: 2 });
    expect(ledger).toEqual({
      attempted: 8,
      acknowledged: 5,
      failed: 1,
      unknown: 2,
      delivered: 4, // 0-0, 0-2, 0-4, 1-0
      duplicated: 1, // 0-0, by another consumer
      outOfOrder: 0,
      unexpected: 2, // 0-99, 1-7
      recovered: 1, // 0-2
      lost: 2, // 0-5, 1-1
      where: { ...nowhere, unread: 2 },
    });
    expect(ledgerImbalances(ledger)).toEqual([]);
  });

  it('asks of fan-out that every consumer got each message, and counts repeats by consumer', () => {
    const sends = [sentBy({ attempted: 4, unknown: [3] })];
    const consumers = [
      handledBy(1, [0, 0], [0, 1], [0, 1], [0, 3]),
      handledBy(1, [0, 0], [0, 1], [0, 2], [0, 3]),
    ];
    const ledger = settle(sends, consumers, nowhere, { fanOut: true });
    expect(ledger).toMatchObject({ delivered: 3, duplicated: 1, recovered: 1, lost: 1 });
    expect(ledgerImbalances(ledger)).toEqual([]);
  });

  it('loses everything when there was no consumer', () => {
    for (const fanOut of [true, false]) {
      expect(settle([sentBy({ attempted: 3 })], [], nowhere, { fanOut })).toMatchObject({
        delivered: 0,
        lost: 3,
      });
    }
  });

  it('reports a known loss exactly, among a million', () => {
    const ledger = new DeliveryLedger(1);
    for (let sequence = 0; sequence < 1_000_000; sequence++)
      if (sequence % 997 !== 0) ledger.record(0, sequence);
    const settled = settle([sentBy({ attempted: 1_000_000 })], [ledger.snapshot()], nowhere);
    expect(settled.lost).toBe(Math.ceil(1_000_000 / 997));
    expect(settled.delivered + settled.lost).toBe(1_000_000);
  });
});

describe('ledgerImbalances', () => {
  it('names each equation that does not hold', () => {
    const broken = { ...emptyLedger(), attempted: 3, acknowledged: 1, delivered: 5, recovered: 1, lost: 2 };
    expect(ledgerImbalances(broken)).toEqual([
      'attempted 3 is not acknowledged 1 + failed 0 + unknown 0',
      'delivered 5 is not acknowledged 1 - lost 2 + recovered 1',
      'recovered 1 is more than failed 0 + unknown 0',
      'lost 2 is more than acknowledged 1',
    ]);
  });
});

describe('sumLedgers', () => {
  it('adds field by field', () => {
    const one = { ...emptyLedger(), attempted: 2, lost: 1, where: { ...nowhere, pending: 3 } };
    expect(sumLedgers([one, one])).toEqual({
      ...emptyLedger(),
      attempted: 4,
      lost: 2,
      where: { ...nowhere, pending: 6 },
    });
    expect(sumLedgers([])).toEqual(emptyLedger());
  });
});
