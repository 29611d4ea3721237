import { formatNanoseconds, significant } from '../../core/units.js';
import type { Plan, Summary } from '../../measure/result.js';
import type { ConnectionsOptions } from './options.js';

/** Beyond this factor the CPU time of Redis for a request needs an explanation. */
const MOST_APART = 2;
/** A rate that is not answered within this share is beyond the knee (as for `missed-schedule`: what is due is done). */
const ANSWERED = 0.95;

/** A variant with the medians that this experiment alone can word. */
interface Figures {
  readonly label: string;
  readonly strategy: string;
  readonly conditions: string;
  readonly rate: number | undefined;
  median(metric: string): number | undefined;
}

/** What the requests cost Redis and why, where the load breaks each strategy, and how many users the machine bore. */
export function connectionsRemarks(summary: Summary, options: ConnectionsOptions, plan: Plan): string[] {
  const figures = figuresOf(summary, plan);
  return [...costRemarks(figures), ...kneeRemarks(figures), ...userRemarks(options)];
}

function figuresOf({ variants }: Summary, plan: Plan): Figures[] {
  return plan.variants.flatMap(({ name, factors, role }) => {
    const metrics = variants.find((variant) => variant.name === name)?.metrics;
    if (role === 'a-a' || metrics === undefined) return [];
    const { strategy, client, rate } = factors;
    return [
      {
        label: name,
        strategy: String(strategy),
        conditions: `${strategy} over ${client}`,
        rate: rate === undefined ? undefined : Number(rate),
        median: (metric: string) => metrics[metric]?.median,
      },
    ];
  });
}

/** `per-request costs Redis 41 µs of CPU a request, 5.1 times as much as multiplexed: 6 commands and 1 connection...` */
function costRemarks(figures: readonly Figures[]): string[] {
  const costs = figures.flatMap((figure) => {
    const cost = figure.median('redisCpuPerRequest');
    return cost === undefined || cost === 0 ? [] : [{ figure, cost }];
  });
  const [cheapest] = [...costs].sort((a, b) => a.cost - b.cost);
  if (cheapest === undefined || costs.length < 2) return [];
  const dear = costs.filter(({ cost }) => cost > MOST_APART * cheapest.cost);
  if (dear.length === 0) {
    return [
      `a request costs Redis about the same CPU time whatever the strategy: within a factor of ${MOST_APART} of ` +
        `${formatNanoseconds(cheapest.cost)} (${cheapest.figure.label})`,
    ];
  }
  return dear.map(
    ({ figure, cost }) =>
      `${figure.label} costs Redis ${formatNanoseconds(cost)} of CPU time a request, ${significant(cost / cheapest.cost)} ` +
      `times as much as ${cheapest.figure.label}: ${whyOf(figure)} against ${whyOf(cheapest.figure)}`,
  );
}

/** Commands, connections and reads are what Redis works for a request, in falling order of what they cost it. */
function whyOf({ median }: Figures): string {
  const each = (metric: string): string => significant(median(metric) ?? 0);
  const reads = median('readsPerRequest') === undefined ? '' : `, ${each('readsPerRequest')} reads`;
  return `${each('connectionsPerRequest')} new connections, ${each('commandsPerRequest')} commands${reads} a request`;
}

/** Per strategy and client, of a sweep: up to which rate everything is answered, and what latency it has there. */
function kneeRemarks(figures: readonly Figures[]): string[] {
  const sweeps = new Map<string, (Figures & { readonly rate: number })[]>();
  for (const figure of figures) {
    const { rate } = figure;
    if (rate === undefined) continue;
    sweeps.set(figure.conditions, [...(sweeps.get(figure.conditions) ?? []), { ...figure, rate }]);
  }
  return [...sweeps].flatMap(([conditions, unsorted]) => {
    const sweep = unsorted.sort((a, b) => a.rate - b.rate);
    if (sweep.length < 2) return [];
    // A rate whose load could not be made as planned tells nothing of this one or of a higher one.
    const unmade = sweep.findIndex(({ median }) => median('throughput') === undefined);
    const made = unmade === -1 ? sweep : sweep.slice(0, unmade);
    const behind = made.findIndex(({ rate, median }) => (median('throughput') ?? 0) < ANSWERED * rate);
    if (behind === 0)
      return [`${conditions} does not answer even ${perSecond(sweep[0]?.rate)}: sweep lower rates`];
    const knee = made.at(behind === -1 ? -1 : behind - 1);
    if (knee === undefined) return [];
    const said = `${conditions} answers ${perSecond(knee.rate)}${latencyOf(knee)}`;
    if (behind !== -1) {
      const beyond = made[behind];
      return [
        `${said} and falls behind at ${perSecond(beyond?.rate)}${latencyOf(beyond)}: the knee lies between`,
      ];
    }
    return [
      unmade === -1
        ? `${said}, the highest rate of the sweep: its knee lies beyond`
        : `${said}; at ${perSecond(sweep[unmade]?.rate)} no trial counts, so the knee was not seen`,
    ];
  });
}

function latencyOf(figure: Figures | undefined): string {
  const percentiles = [
    ['median', figure?.median('latencyP50')],
    ['p99', figure?.median('latencyP99')],
  ] as const;
  const known = percentiles.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name} ${formatNanoseconds(value)}`],
  );
  return known.length === 0 ? '' : ` (${known.join(', ')})`;
}

function perSecond(rate: number | undefined): string {
  return `${(rate ?? 0).toLocaleString('en-US')} requests per second`;
}

function userRemarks({ users, usersWanted }: ConnectionsOptions): string[] {
  if (usersWanted === undefined) return [];
  return [
    `the load was ${users} users, not the ${usersWanted} of the publication: a process may open no more files here ` +
      '(ulimit -n)',
  ];
}
