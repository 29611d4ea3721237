import { describe, expect, it } from 'vitest';
import { Lease } from '../../src/messaging/internal/group/lease.js';

/** When an acknowledgement may be sent without asking whose entry it is, and when a renewal is due. */
describe('Lease of 1000 ms', () => {
  const taken = (sentAt: number) => {
    const lease = new Lease(1000);
    lease.given(sentAt, true);
    return lease;
  };

  it('is in doubt before anything was given', () => {
    expect(new Lease(1000).isInDoubt(0)).toBe(true);
  });

  it('counts from when the read was written: renewed after a quarter, in doubt after half', () => {
    const lease = taken(100);
    expect([lease.isDueForRenewal(349), lease.isDueForRenewal(350)]).toEqual([false, true]);
    expect([lease.isInDoubt(599), lease.isInDoubt(600)]).toEqual([false, true]);
  });

  it('counts from the oldest of what is owned', () => {
    const lease = taken(100);
    lease.given(550, false);
    expect(lease.isInDoubt(600)).toBe(true);
    lease.given(600, true);
    expect(lease.isInDoubt(1099)).toBe(false);
  });

  it('counts from when the renewal was written', () => {
    const lease = taken(100);
    lease.renewalBegins();
    lease.renewed(400);
    expect([lease.isInDoubt(899), lease.isInDoubt(900)]).toEqual([false, true]);
  });

  it('does not take what came during a renewal for renewed', () => {
    const lease = taken(100);
    lease.renewalBegins();
    lease.given(50, false);
    lease.renewed(400);
    expect([lease.isInDoubt(549), lease.isInDoubt(550)]).toEqual([false, true]);
    // The next renewal knows of it.
    lease.renewalBegins();
    lease.renewed(700);
    expect(lease.isInDoubt(1199)).toBe(false);
  });
});
