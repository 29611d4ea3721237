import { describe, expect, it } from 'vitest';
import { Counters } from '../../src/messaging/internal/counters.js';
import { encodeEnvelope, headerPrefix } from '../../src/messaging/internal/envelope.js';
import { consumerSettings } from '../../src/messaging/internal/options.js';
import { BegunAttempts } from '../../src/messaging/internal/reliable-queue/begun-attempts.js';
import { FinishedDeliveries } from '../../src/messaging/internal/reliable-queue/finished-deliveries.js';
import { ProcessingList } from '../../src/messaging/internal/reliable-queue/processing-list.js';

const UNKNOWN = { state: 'unknown', error: new Error('no answer') } as const;
const NOT_SENT = { state: 'error', error: new Error('not connected') } as const;
const removed = (reply: number) => ({ state: 'ok', reply }) as const;

function finishing() {
  const counters = new Counters();
  const attempts = new BegunAttempts(() => {
    throw new Error('nothing is sent here');
  }, 'key');
  const list = new ProcessingList(consumerSettings({}, 'key'));
  return { counters, finished: new FinishedDeliveries(list, attempts, counters) };
}

const ours = (sequence: number) => {
  const raw = Buffer.from(encodeEnvelope(headerPrefix('p'), sequence, 'body'));
  return { raw, place: `key#${sequence}` };
};
const foreign = (text: string) => ({ raw: Buffer.from(text), place: 'key#9' });
const messagesIn = (finished: FinishedDeliveries) => finished.command()?.slice(6).map(String);

describe('finished deliveries', () => {
  it('are gone once they are removed; those that were not there came too late', () => {
    const { counters, finished } = finishing();
    expect(finished.command()).toBeUndefined();
    for (const sequence of [0, 1, 2]) finished.add(ours(sequence));
    expect(messagesIn(finished)).toHaveLength(3);
    expect(finished.settle(removed(1))).toBeUndefined();
    expect(finished.isEmpty).toBe(true);
    expect(counters.fenced).toBe(2);
  });

  it('stay until they are known to be removed, and count as late only where no earlier removal is in doubt', () => {
    const { counters, finished } = finishing();
    finished.add(ours(0));
    expect(finished.settle(NOT_SENT)).toBe(NOT_SENT.error);
    expect(finished.settle(UNKNOWN)).toBe(UNKNOWN.error);
    finished.add(ours(1));
    expect(messagesIn(finished)).toHaveLength(2);
    finished.settle(removed(1));
    expect(counters.fenced).toBe(0);
    finished.add(ours(2));
    finished.settle(removed(0));
    expect(counters.fenced).toBe(1);
  });

  it('of other software are not removed twice: the second time could take an equal message that nobody handled', () => {
    const { finished } = finishing();
    finished.add(foreign('equal'));
    finished.add(ours(0));
    finished.settle(NOT_SENT);
    expect(messagesIn(finished)).toHaveLength(2);
    finished.settle(UNKNOWN);
    expect(messagesIn(finished)).toEqual(['weir1 p 0\nbody']);
  });
});
