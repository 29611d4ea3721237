import type { Fault } from './fault.js';

/**
 * One message that no attempt can handle. It must end among the dead letters and take no neighbour with it; when the
 * handler has been mended, the dead letters are sent again, and then it counts as delivered.
 */
export const poison = {
  name: 'poison',
  summary: 'the handler throws at one message, every time; mended later, and the dead letters are sent again',
  kind: 'handler',
  points: [],
  handler: 'poison',
} satisfies Fault;
