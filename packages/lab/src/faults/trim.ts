import type { Fault } from './fault.js';

/** One in so many entries stays: the oldest go, and at least a quarter of them has not been read. */
const KEPT_SHARE = 4;

/** Somebody trims the stream while entries in it have not been read. They are gone; the reader must say how many. */
export const trim = {
  name: 'trim',
  summary: 'three quarters of the stream are trimmed while most of it is unread',
  kind: 'trim',
  points: ['after-read'],
  appliesTo: ({ commands }) => commands.send.some(({ name }) => name === 'XADD'),
  async strike({ redis, key, loadSent }) {
    await loadSent();
    const length = Number(await redis.send(['XLEN', key]));
    await redis.send(['XTRIM', key, 'MAXLEN', String(Math.floor(length / KEPT_SHARE))]);
  },
} satisfies Fault;
