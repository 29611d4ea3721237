import type { Fault } from './fault.js';

/** The published scenario: the handler throws at every nth message (`--every`), the first time it sees it. */
export const handlerThrows = {
  name: 'handler-throws',
  summary: 'the handler throws at every nth message, the first time it gets it',
  kind: 'handler',
  points: [],
  handler: 'throws-once',
} satisfies Fault;
