import type { ConsumerCounters, PatternState } from '@weir/patterns';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { PatternRun } from './pattern-run.js';

/** Counters of a run that only grow: the name of the metric and what it counts. */
const TOTALS = {
  received: 'Messages taken from Redis, repeated deliveries included.',
  handled: 'Messages whose handling succeeded.',
  errors: 'Messages whose handling failed.',
  retries: 'Deliveries after the first attempt.',
  deadLettered: 'Messages given up and kept as dead letters.',
  dropped: 'Messages given up without a dead letter.',
  trimmed: 'Messages that Redis removed before they were read.',
  takenOver: 'Messages taken over from consumers that had gone silent.',
  fenced: 'Messages handled after their lease had passed to another consumer.',
  rewinds: 'Times the offset was set back because Redis came back with less.',
  disconnects: 'Times the connection to Redis was lost.',
} as const satisfies Partial<Record<keyof ConsumerCounters, string>>;

/** The figures of each pattern for Prometheus. They belong to the run, so they fall to 0 at its next start. */
export function addConsumerMetrics(
  registry: Registry,
  runs: ReadonlyMap<string, PatternRun>,
  inspect: (pattern: string) => Promise<PatternState | undefined>,
): void {
  const registers = [registry];
  const labelNames = ['pattern'] as const;
  for (const [name, help] of Object.entries(TOTALS)) {
    new Counter({
      name: `weir_consumer_${snakeCase(name)}_total`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const [pattern, run] of runs) {
          const { counters } = run.figures();
          if (counters !== undefined) this.inc({ pattern }, Number(Reflect.get(counters, name)));
        }
      },
    });
  }
  new Gauge({
    name: 'weir_consumer_running',
    help: '1 while the pattern is consumed.',
    labelNames,
    registers,
    collect() {
      for (const [pattern, run] of runs) this.set({ pattern }, run.isRunning ? 1 : 0);
    },
  });
  new Gauge({
    name: 'weir_consumer_in_flight',
    help: 'Messages taken, handling not finished.',
    labelNames,
    registers,
    collect() {
      for (const [pattern, run] of runs) this.set({ pattern }, run.figures().counters?.inFlight ?? 0);
    },
  });
  new Gauge({
    name: 'weir_consumer_last_poll_age_seconds',
    help: 'Time since the last successful poll of a pattern that is consumed.',
    labelNames,
    registers,
    collect() {
      this.reset();
      for (const [pattern, run] of runs) {
        const age = run.figures().counters?.lastPollAgeMs;
        if (run.isRunning && age !== undefined) this.set({ pattern }, age / 1000);
      }
    },
  });
  new Gauge({
    name: 'weir_consumer_lag',
    help: 'Messages waiting in Redis; missing while Redis does not answer.',
    labelNames,
    registers,
    async collect() {
      this.reset();
      for (const pattern of runs.keys()) {
        const state = await inspect(pattern);
        if (state !== undefined) this.set({ pattern }, state.unread);
      }
    },
  });
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
