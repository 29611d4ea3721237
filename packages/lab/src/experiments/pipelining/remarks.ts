import { formatBytes, formatNanoseconds, significant } from '../../core/units.js';
import type { Plan, Summary } from '../../measure/result.js';
import { SMALLEST_MARGIN } from '../../measure/statistics.js';
import type { PipeliningOptions } from './options.js';

/** A variant among those that differ from it in nothing but the depth. */
interface Depth {
  readonly depth: number;
  /** Compared with each other, and with the A/A copy that tells their noise. */
  readonly group: string;
  readonly perSecond: number;
  readonly memoryBytes: number | undefined;
  readonly pingNs: number | undefined;
}

/**
 * Where no more is gained, what it costs in memory, and what the network added: per method, client and round trip. The knee is
 * looked for in the medians; how sure each speed-up is, the verdicts say.
 */
export function pipeliningRemarks(summary: Summary, _options: PipeliningOptions, plan: Plan): string[] {
  return [...depthsByConditions(summary, plan)].flatMap(([conditions, depths]) => {
    const [shallowest] = depths;
    const deepest = depths.at(-1);
    if (shallowest === undefined || deepest === undefined || depths.length < 2) return [];
    return [
      `${conditions}: ${kneeSentence(depths, noiseOf(summary, shallowest.group))}`,
      ...memorySentence(conditions, shallowest, deepest),
      ...(shallowest.pingNs === undefined
        ? []
        : [`${conditions}: a PING takes ${formatNanoseconds(shallowest.pingNs)} there and back (median)`]),
    ];
  });
}

/**
 * The A/A interval of the group: a smaller gain cannot be told from none, however quiet or loud other groups were. Where
 * the group has no copy of its own (a quick run), that of the run, as for its verdicts; at least 3 %, as for every verdict.
 */
function noiseOf({ noiseFloor }: Summary, group: string): number {
  const floors = noiseFloor.filter(({ metric }) => metric === 'throughput');
  const own = floors.filter((floor) => floor.group === group);
  const widths = (own.length > 0 ? own : floors).flatMap(({ halfWidth }) => halfWidth ?? []);
  return Math.max(SMALLEST_MARGIN, ...widths);
}

/** Shallowest first. A copy of the baseline (A/A) is the same depth once more. */
function depthsByConditions(summary: Summary, plan: Plan): ReadonlyMap<string, readonly Depth[]> {
  const groups = new Map<string, Depth[]>();
  for (const { name, factors, role, group } of plan.variants) {
    const metrics = summary.variants.find((variant) => variant.name === name)?.metrics;
    const throughput = metrics?.throughput?.median;
    if (role === 'a-a' || throughput === undefined) continue;
    const conditions = `${factors.method} over ${factors.client}${factors.rtt === 0 ? '' : `, rtt ${factors.rtt} ms`}`;
    const depths = groups.get(conditions) ?? [];
    depths.push({
      depth: Number(factors.depth),
      group,
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
