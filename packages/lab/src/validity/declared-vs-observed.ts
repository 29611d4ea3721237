import { significant } from '../core/units.js';
import { type Check, fail, pass } from './check.js';

/** Was the mechanism that ran the one the plan names? Told from INFO, commandstats and counters, not from intentions. */
export const declaredVsObserved = {
  name: 'declared-vs-observed',
  summary: 'fails when connections, batch size, commands or the like differ from what the plan declares',
  trial: ({ observations: { declared } }) => {
    if (declared === undefined || declared.length === 0) return undefined;
    const wrong = declared.filter(
      (item) => Math.abs(item.observed - item.declared) > item.tolerance * item.declared,
    );
    const described = (items: typeof declared): string =>
      items
        .map((item) => `${item.what} ${significant(item.observed)}, declared ${significant(item.declared)}`)
        .join('; ');
    if (wrong.length === 0) return pass(described(declared));
    return fail(
      described(wrong),
      'what ran is not what was planned: make sure nothing else uses the server, and look at the options of the experiment',
    );
  },
} satisfies Check;
