import { type Check, fail, pass } from './check.js';

/** What is still in Redis is not lost: it was not waited for. Such a trial says nothing about loss. */
export const undrained = {
  name: 'undrained',
  summary: 'fails when messages are left in Redis after the drain: loss is not claimed',
  trial: ({ observations: { leftAfterDrain, drainDeadlinePassed } }) => {
    if (leftAfterDrain === undefined && drainDeadlinePassed === undefined) return undefined;
    const left = leftAfterDrain ?? 0;
    if (left === 0 && drainDeadlinePassed !== true) return pass('nothing was left after the drain');
    return fail(
      `${left} messages were left after the drain` +
        `${drainDeadlinePassed === true ? ', whose deadline passed' : ''}; they are not counted as a loss of the pattern`,
      'send fewer messages, or give the drain more time',
    );
  },
} satisfies Check;
