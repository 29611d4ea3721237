import { formatBytes, formatNanoseconds, significant } from '../../core/units.js';
import type { Plan, Summary } from '../../measure/result.js';
import { SMALLEST_MARGIN } from '../../measure/statistics.js';
import type { PipeliningOptions } from './options.js';

/** A variant among those that differ from it in nothing but the depth. */
interface Depth {
  readonly depth: number;
  readonly perSecond: number;
  readonly memoryBytes: number | undefined;
  readonly pingNs: number | undefined;
}

/**
 * Where no more is gained, what it costs in memory, and what the network added: per method, client and round trip. The knee is
 * looked for in the medians; how sure each speed-up is, the verdicts say.
 */
export function pipeliningRemarks(summary: Summary, _options: PipeliningOptions, plan: Plan): string[] {
  const noise = noiseOf(summary);
  return [...depthsByConditions(summary, plan)].flatMap(([conditions, depths]) => {
    const [shallowest] = depths;
    const deepest = depths.at(-1);
    if (shallowest === undefined || deepest === undefined || depths.length < 2) return [];
    return [
      `${conditions}: ${kneeSentence(depths, noise)}`,
      ...memorySentence(conditions, shallowest, deepest),
      ...(shallowest.pingNs === undefined
        ? []
        : [`${conditions}: a PING takes ${formatNanoseconds(shallowest.pingNs)} there and back (median)`]),
    ];
  });
}

/** The widest A/A interval of the run: a smaller gain cannot be told from none. At least 3 %, as for every verdict. */
function noiseOf({ noiseFloor }: Summary): number {
  return Math.max(SMALLEST_MARGIN, ...noiseFloor.flatMap(({ halfWidth }) => halfWidth ?? []));
}

/** Shallowest first. A copy of the baseline (A/A) is the same depth once more. */
function depthsByConditions(summary: Summary, plan: Plan): ReadonlyMap<string, readonly Depth[]> {
  const groups = new Map<string, Depth[]>();
  for (const { name, factors, role } of plan.variants) {
    const metrics = summary.variants.find((variant) => variant.name === name)?.metrics;
    const throughput = metrics?.throughput?.median;
    if (role === 'a-a' || throughput === undefined) continue;
    const conditions = `${factors.method} over ${factors.client}${factors.rtt === 0 ? '' : `, rtt ${factors.rtt} ms`}`;
    const depths = groups.get(conditions) ?? [];
    depths.push({
      depth: Number(factors.depth),
      perSecond: throughput,
      memoryBytes: metrics?.clientMemory?.median,
      pingNs: metrics?.pingRoundTrip?.median,
    });
    groups.set(
      conditions,
      depths.sort((a, b) => a.depth - b.depth),
    );
  }
  return groups;
}

function kneeSentence(depths: readonly Depth[], noise: number): string {
  const percent = `${significant(noise * 100)} %, the noise floor`;
  const knee = depths.find(({ depth, perSecond }) =>
    depths.every((other) => other.depth <= depth || other.perSecond / perSecond - 1 <= noise),
  );
  const last = depths.at(-1);
  if (knee === undefined || knee === last) {
    return `the largest depth, ${last?.depth}, still gains more than ${percent}, over every smaller one`;
  }
  return `beyond depth ${knee.depth} no depth gains more than ${percent}`;
}

function memorySentence(conditions: string, shallowest: Depth, deepest: Depth): string[] {
  if (shallowest.memoryBytes === undefined || deepest.memoryBytes === undefined) return [];
  return [
    `${conditions}: the client process takes ${formatBytes(deepest.memoryBytes)} at depth ${deepest.depth}, ` +
      `${formatBytes(shallowest.memoryBytes)} at depth ${shallowest.depth}`,
  ];
}
