import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';

/** What all cores of this machine did over a window, ours and others'. */
export interface MachineLoad {
  /** Cores busy on average: 1.5 is one and a half. */
  readonly busyCores: number;
  /** Share of all CPU time the hypervisor took away; 0 where the system does not tell. */
  readonly stealShare: number;
}

interface CpuTimes {
  readonly busyMs: number;
  readonly totalMs: number;
  readonly stealTicks: number;
  readonly allTicks: number;
}

/** Starts a window; the returned function ends it. */
export async function beginMachineWindow(): Promise<() => Promise<MachineLoad>> {
  const before = await readTimes();
  return async () => {
    const after = await readTimes();
    const totalMs = after.totalMs - before.totalMs;
    const allTicks = after.allTicks - before.allTicks;
    return {
      busyCores: totalMs === 0 ? 0 : (cpus().length * (after.busyMs - before.busyMs)) / totalMs,
      stealShare: allTicks === 0 ? 0 : (after.stealTicks - before.stealTicks) / allTicks,
    };
  };
}

async function readTimes(): Promise<CpuTimes> {
  let busyMs = 0;
  let totalMs = 0;
  for (const { times } of cpus()) {
    const busy = times.user + times.nice + times.sys + times.irq;
    busyMs += busy;
    totalMs += busy + times.idle;
  }
  return { busyMs, totalMs, ...(await readSteal()) };
}

/** First line of /proc/stat: user nice system idle iowait irq softirq steal guest guest_nice (proc(5)). */
async function readSteal(): Promise<Pick<CpuTimes, 'stealTicks' | 'allTicks'>> {
  const text = await readFile('/proc/stat', 'utf8').catch(() => '');
  const ticks = text.slice(0, text.indexOf('\n')).split(/\s+/).slice(1, 9).map(Number);
  return { stealTicks: ticks[7] ?? 0, allTicks: ticks.reduce((sum, tick) => sum + tick, 0) };
}
