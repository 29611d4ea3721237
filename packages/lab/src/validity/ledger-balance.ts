import { ledgerImbalances } from '../measure/ledger.js';
import { type Check, fail, pass } from './check.js';

const NAME = 'ledger-balance';

/** Every message (operation, request) must have exactly one fate, and the server must have counted what we counted. */
export const ledgerBalance = {
  name: NAME,
  summary: 'fails when the fates of what was sent do not add up, or the server counted something else',
  trial: ({ ledger, observations }) => {
    const wrong = [
      ...ledgerImbalances(ledger),
      ...(ledger.unexpected > 0
        ? [`${ledger.unexpected} messages were handled that nobody sent in this trial`]
        : []),
      ...(observations.serverCounts ?? []).flatMap(({ what, ledger: ours, server, relation }) => {
        const agrees = relation === 'exact' ? server === ours : server >= ours;
        return agrees
          ? []
          : [
              `${what}: the server says ${server}, the ledger ${relation === 'exact' ? '' : 'at least '}${ours}`,
            ];
      }),
    ];
    if (wrong.length === 0) {
      const agreed = (observations.serverCounts ?? []).map(({ what }) => what).join(', ');
      return pass(
        `${ledger.attempted} attempted, each with one fate${agreed === '' ? '' : `; the server agrees on: ${agreed}`}`,
      );
    }
    return fail(
      wrong.join('; '),
      'make sure nothing else uses the keys and the server, and run again; if it stays, it is a defect of the pattern or of weir',
    );
  },
  /** Totals balance or the run is invalid: one trial that does not add up puts the counting of all in doubt. */
  run: ({ result }) => {
    const broken = result.trials.filter(({ validity }) =>
      validity.some(({ id, status }) => id === NAME && status === 'fail'),
    );
    if (broken.length === 0) return pass('the ledgers of all trials balance');
    return fail(
      `the ledger does not balance in ${broken.length} of ${result.trials.length} trials: ${broken.map(({ id }) => id).join(', ')}`,
      'the trials say which figures disagree',
    );
  },
} satisfies Check;
