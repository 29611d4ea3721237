import type { CompletedTrial, Plan, Summary, Trial } from '../../measure/result.js';
import type { FaultsOptions } from './options.js';

/** What a reader should take away: whether the promises were kept, and what each pattern lost under what. */
export function faultRemarks(
  _summary: Summary,
  { patterns }: FaultsOptions,
  plan: Plan,
  trials: readonly Trial[],
): string[] {
  const judged = trials.filter((trial): trial is CompletedTrial => trial.state !== 'failed');
  const broken = judged.filter(({ guarantee }) => guarantee?.state === 'broken');
  const factorsOf = new Map(plan.variants.map(({ name, factors }) => [name, factors]));
  return [
    judged.length === 0 ? 'no trial could be made' : keptSentence(judged.length, broken.length),
    ...broken.map(({ variant, guarantee }) => `${variant}: ${guarantee?.broken.join('; ') ?? ''}`),
    ...patterns.map(({ name, capabilities }) => {
      const own = judged.filter(({ variant }) => factorsOf.get(variant)?.pattern === name);
      return `${name} (${capabilities.delivery}) ${lossSentence(own, factorsOf)}`;
    }),
  ];
}

function keptSentence(judged: number, broken: number): string {
  if (broken === 0) return `every pattern kept the guarantee it declares, in all ${judged} trials`;
  return `in ${broken} of ${judged} trials a pattern did not keep the guarantee it declares`;
}

/** `lost nothing under 16 faults` or `lost messages under 3 of 16 faults: handler-throws (100), ...` */
function lossSentence(
  trials: readonly CompletedTrial[],
  factorsOf: ReadonlyMap<string, Plan['variants'][number]['factors']>,
): string {
  const lostUnder = new Map<string, number>();
  const faults = new Set<string>();
  for (const { variant, ledger } of trials) {
    const { fault, persistence } = factorsOf.get(variant) ?? {};
    const name =
      persistence === 'none' || persistence === undefined ? String(fault) : `${fault} (${persistence})`;
    faults.add(name);
    if (ledger.lost > 0) lostUnder.set(name, Math.max(ledger.lost, lostUnder.get(name) ?? 0));
  }
  if (lostUnder.size === 0) return `lost nothing under ${faults.size} faults`;
  const listed = [...lostUnder].map(([fault, lost]) => `${fault} ${lost}`).join(', ');
  return `lost messages under ${lostUnder.size} of ${faults.size} faults: ${listed}`;
}
