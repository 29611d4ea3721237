import type { LimitedBy, RedisFigures, Resources } from './result.js';

/** A process that never waits is the one the others wait for. */
const BUSY_EVENT_LOOP = 0.95;
const BUSY_CORE = 0.9;
/** Most of the time of a busy consumer spent in the store makes the store the limit. */
const STORE_SHARE = 0.5;

export interface LimitEvidence {
  readonly resources: Readonly<Record<string, Resources>>;
  readonly redis: Pick<RedisFigures, 'cpu' | 'mainThreadCpu'>;
  readonly cpuCount: number;
  /** Open load: the pacer set the pace unless something behind it was saturated. */
  readonly paced: boolean;
  /** Processes by role, for roles that are sums over several. */
  readonly processes: Readonly<Record<string, number>>;
}

/**
 * Says what set the pace of a trial, downstream first: a saturated consumer makes the producer wait, never the other
 * way round. Event-loop utilisation is looked at beside CPU time because a process that is runnable and starved of a
 * core has a busy loop and a modest CPU figure.
 */
export function limitedBy(evidence: LimitEvidence): LimitedBy {
  const { resources, redis, cpuCount, processes } = evidence;
  const busy = (role: string): boolean => {
    const figures = resources[role];
    if (figures === undefined) return false;
    const cores = figures.cpu / (processes[role] ?? 1);
    return cores >= BUSY_CORE || (figures.eventLoop ?? 0) >= BUSY_EVENT_LOOP;
  };
  const consumer = resources.consumer;
  if (consumer !== undefined && (consumer.storeShare ?? 0) >= STORE_SHARE) return 'store';
  if (busy('consumer')) return 'consumer';
  if ((redis.mainThreadCpu ?? redis.cpu) >= BUSY_CORE) return 'redis';
  if (busy('app')) return 'app';
  // A pacer keeps its event loop busy by design; whether it kept up is for the check of its schedule.
  if (evidence.paced) return 'none';
  if (busy('producer')) return 'producer';
  const used = Object.values(resources).reduce((sum, { cpu }) => sum + cpu, redis.cpu);
  if (used >= BUSY_CORE * cpuCount) return 'machine';
  return busiest(evidence);
}

/** Nothing was saturated, yet the load was closed: the busiest part is named, as the nearest to a limit. */
function busiest({ resources, redis, processes }: LimitEvidence): LimitedBy {
  const candidates: [LimitedBy, number][] = [
    ['redis', redis.mainThreadCpu ?? redis.cpu],
    ['app', (resources.app?.cpu ?? 0) / (processes.app ?? 1)],
    ['consumer', (resources.consumer?.cpu ?? 0) / (processes.consumer ?? 1)],
    ['producer', (resources.producer?.cpu ?? 0) / (processes.producer ?? 1)],
  ];
  return candidates.reduce((most, candidate) => (candidate[1] > most[1] ? candidate : most))[0];
}
