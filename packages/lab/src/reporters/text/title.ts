import type { Result } from '../../measure/result.js';
import { plannedTrials, plural } from './figures.js';
import { hasGuarantees } from './guarantees.js';
import { type Style, wrap } from './style.js';

/** Below this many rounds no 95 % interval of a signed-rank estimate exists (docs/methodology.md). */
const FEWEST_ROUNDS = 6;

/** What ran, where, and everything that limits how far the figures below may be believed. */
export function title(result: Result, style: Style): string[] {
  const { environment, plan } = result;
  const server = environment.server;
  const setting = [
    `run ${result.id}`,
    `${result.startedAt.slice(0, 16).replace('T', ' ')} UTC`,
    `${server.software} ${server.version}${server.managed ? '' : ` at ${server.address}`}`,
    `node ${environment.node.replace(/^v/, '')}`,
    plural(environment.cpu.count, 'core'),
    plural(plan.rounds, 'round'),
  ];
  return [
    ...wrap(`weir ${result.experiment}: ${plan.question}`, { width: style.width, paint: style.strong }),
    ...wrap(setting.join(' · '), { width: style.width, paint: style.quiet }),
    ...notices(result, style),
  ];
}

/** Why these figures may not be taken at face value, worst first. */
function notices(result: Result, style: Style): string[] {
  const { plan, status } = result;
  const finished = `${result.trials.length} of ${plannedTrials(result)} trials`;
  const failed = result.validity.filter((check) => check.status === 'fail').map((check) => check.id);
  const lines: string[] = [];
  const notice = (word: string, sentence: string, paint: (text: string) => string) =>
    lines.push(...wrap(sentence, { width: style.width, first: `${word}  `, paint }));

  if (status === 'failed') {
    notice('FAILED', `after ${finished}: ${result.error ?? 'the reason was not recorded'}`, style.bad);
  }
  if (status === 'interrupted') {
    notice('INTERRUPTED', `after ${finished}; the figures rest on those alone.`, style.caution);
  }
  if (failed.length > 0) {
    notice(
      'NOT VALID',
      `draw no conclusion from this run: ${failed.join(', ')} failed (see Checks).`,
      style.bad,
    );
  }
  if (hasGuarantees(result)) {
    // One trial is enough to break a promise; no interval is claimed.
  } else if (plan.rounds < FEWEST_ROUNDS) {
    const sentence = `${plural(plan.rounds, 'round')}: no 95 % interval exists below ${FEWEST_ROUNDS}, so there is no verdict.`;
    notice('NO VERDICT', sentence, style.caution);
  } else if (plan.precision === 'quick') {
    const sentence = `${plan.rounds} rounds show large differences only; decide on a run without --quick.`;
    notice('EXPLORATORY', sentence, style.caution);
  }
  return lines.length > 0 ? ['', ...lines] : [];
}
