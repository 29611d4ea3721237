import { type Check, fail, pass } from './check.js';

const MOST_NAMED = 5;

/** What an earlier trial left behind would be handled, and counted, in this one. */
export const leftoverState = {
  name: 'leftover-state',
  summary: 'fails when keys of an earlier run exist at the start of a trial',
  trial: ({ observations: { keysAtStart } }) => {
    if (keysAtStart === undefined) return undefined;
    if (keysAtStart.length === 0) return pass('no key existed before the trial');
    const named = keysAtStart.slice(0, MOST_NAMED).join(', ');
    const rest = keysAtStart.length > MOST_NAMED ? ` and ${keysAtStart.length - MOST_NAMED} more` : '';
    return fail(
      `${keysAtStart.length} keys existed before the trial: ${named}${rest}`,
      'delete them if they are yours to delete, or let weir start a server of its own (leave --redis away)',
    );
  },
} satisfies Check;
