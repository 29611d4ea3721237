import type { Fault } from './fault.js';

/** Somebody trims the stream while entries in it have not been read. They are gone; the reader must say how many. */
export const trim = {
  name: 'trim',
  summary: 'half of what waits in the stream is trimmed before it is read',
  kind: 'trim',
  points: ['after-read'],
  appliesTo: ({ commands }) => commands.send.some(({ name }) => name === 'XADD'),
  async strike({ redis, key, loadSent }) {
    await loadSent();
    const length = Number(await redis.send(['XLEN', key]));
    await redis.send(['XTRIM', key, 'MAXLEN', String(Math.floor(length / 2))]);
  },
} satisfies Fault;
