import { significant } from '../core/units.js';
import { type Check, fail, pass, warn } from './check.js';

const NAME = 'generator-limited';
const BUSY_CORE = 0.9;
const BUSY_EVENT_LOOP = 0.95;
/** A variant counts as limited when more than this share of its trials was. */
const SOME_TRIALS = 0.5;

/**
 * When the producer cannot send faster, the figure is the producer's and every fast pattern looks the same. Who was the
 * limit is the trial's own finding (`limitedBy`, downstream first: a busy consumer or Redis makes a producer wait, never
 * the other way round); this check asks in addition that the producer really was saturated. The figures stay, as lower
 * bounds; the ranking goes.
 */
export const generatorLimited = {
  name: NAME,
  summary: 'takes the ranking away when the load generator was the limit of a variant',
  takesAway: 'ranking',
  trial: ({ limitedBy, resources: { producer }, observations }) => {
    // A paced generator is busy by design; whether it kept up is for missed-schedule.
    if (producer === undefined || observations.paced === true) return undefined;
    const evidence =
      `the producer used ${significant(producer.cpu)} cores` +
      (producer.eventLoop === null ? '' : `, its event loop ${significant(producer.eventLoop * 100)} %`);
    const saturated = producer.cpu >= BUSY_CORE || (producer.eventLoop ?? 0) >= BUSY_EVENT_LOOP;
    if (limitedBy !== 'producer' || !saturated) return pass(`${evidence}; the limit was ${limitedBy}`);
    return warn(
      `${evidence}, while Redis and consumer waited`,
      'use more producers (--producers 2) or larger sends',
    );
  },
  run: ({ result }) => {
    const limited = result.plan.variants.flatMap(({ name }) => {
      const trials = result.trials.filter(({ variant, state }) => variant === name && state === 'measured');
      const warned = trials.filter(({ validity }) =>
        validity.some(({ id, status }) => id === NAME && status === 'warn'),
      );
      return warned.length > SOME_TRIALS * trials.length
        ? [`${name} (${warned.length} of ${trials.length} trials)`]
        : [];
    });
    if (limited.length === 0) return pass('the load generator was not the limit of any variant');
    return fail(
      `the load generator was the limit of ${limited.join(', ')}: its rate is a lower bound`,
      'use more producers (--producers 2), larger sends, or a machine with more cores',
    );
  },
} satisfies Check;
