import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { monotonicNs } from './clock.js';
import type { Resources } from './result.js';

/** Resident memory is looked at this often; a peak shorter than this can be missed. */
const SAMPLE_EVERY_MS = 100;
const NANOSECONDS_PER_MICROSECOND = 1000;

/**
 * What this process uses during the measured window. The peak of resident memory is sampled, because the figure the
 * kernel keeps (`resourceUsage().maxRSS`) covers the life of the process, warm-up and all.
 */
export class ResourceMeter {
  #window: Window | undefined;

  /** Begins the window; a window that is open is given up. */
  begin(): void {
    clearInterval(this.#window?.timer);
    const window: Window = {
      beganNs: monotonicNs(),
      cpu: process.cpuUsage(),
      eventLoop: performance.eventLoopUtilization(),
      rssPeakBytes: process.memoryUsage.rss(),
      timer: setInterval(() => {
        window.rssPeakBytes = Math.max(window.rssPeakBytes, process.memoryUsage.rss());
      }, SAMPLE_EVERY_MS).unref(),
    };
    this.#window = window;
  }

  /**
   * Ends the window.
   * @param storeShare share of the window spent inside the store, 0 to 1, where there is one
   * @throws Error when no window was begun
   */
  end(storeShare?: number): Resources {
    const window = this.#window;
    if (window === undefined) throw new Error('the resource meter was not begun');
    this.#window = undefined;
    clearInterval(window.timer);
    const elapsedNs = monotonicNs() - window.beganNs;
    const { user, system } = process.cpuUsage(window.cpu);
    const rssBytes = process.memoryUsage.rss();
    return {
      cpu: elapsedNs > 0 ? ((user + system) * NANOSECONDS_PER_MICROSECOND) / elapsedNs : 0,
      eventLoop: Math.min(1, performance.eventLoopUtilization(window.eventLoop).utilization),
      rssBytes,
      rssPeakBytes: Math.max(window.rssPeakBytes, rssBytes),
      ...(storeShare === undefined ? {} : { storeShare }),
    };
  }
}

interface Window {
  readonly beganNs: number;
  readonly cpu: NodeJS.CpuUsage;
  readonly eventLoop: EventLoopUtilization;
  readonly timer: NodeJS.Timeout;
  rssPeakBytes: number;
}

/**
 * The processes of one role together. CPU and memory add up; of event loop and store the busiest process counts,
 * because one that never waits holds the others up.
 */
export function sumResources(processes: readonly Resources[]): Resources {
  const sum = (figure: (resources: Resources) => number): number =>
    processes.reduce((total, resources) => total + figure(resources), 0);
  const eventLoops = processes.flatMap(({ eventLoop }) => (eventLoop === null ? [] : [eventLoop]));
  const storeShares = processes.flatMap(({ storeShare }) => (storeShare === undefined ? [] : [storeShare]));
  return {
    cpu: sum(({ cpu }) => cpu),
    eventLoop: eventLoops.length > 0 ? Math.max(...eventLoops) : null,
    rssBytes: sum(({ rssBytes }) => rssBytes),
    rssPeakBytes: sum(({ rssPeakBytes }) => rssPeakBytes),
    ...(storeShares.length > 0 ? { storeShare: Math.max(...storeShares) } : {}),
  };
}
