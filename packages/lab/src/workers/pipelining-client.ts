import { NANOSECONDS_PER_MILLISECOND, NANOSECONDS_PER_SECOND } from '../core/units.js';
import { monotonicNs } from '../measure/clock.js';
import { ResourceMeter } from '../measure/resources.js';
import { connectClient } from '../redis/clients.js';
import { pingRoundTrip } from '../redis/inspect.js';
import type {
  PipeliningClientApi,
  PipeliningLoad,
  PipeliningReport,
  PipeliningSettings,
} from './pipelining-api.js';
import { type Round, roundOf } from './pipelining-methods.js';
import { makeOperations, type Operations } from './pipelining-operations.js';
import { serveWorker } from './worker-channel.js';

const KEPT_ERRORS = 5;
/** The runner hears of progress this often. */
const TELL_EVERY_NS = 100 * NANOSECONDS_PER_MILLISECOND;
const FIFTHS = 5;

serveWorker((emit): PipeliningClientApi => {
  let prepared: Prepared | undefined;
  const meter = new ResourceMeter();
  const ready = (): Prepared => {
    if (prepared === undefined) throw new Error('prepare comes first');
    return prepared;
  };
  return {
    async prepare(settings) {
      const { client } = await connectClient(settings.client, settings.url, {
        name: 'weir-client',
        autoPipelining: settings.method === 'auto-pipelining',
      });
      const operations = makeOperations(settings);
      const round = await roundOf(settings.method, settings.command, client, operations);
      prepared = { settings, client, operations, round };
    },
    async ping({ count }) {
      return (await pingRoundTrip(ready().client, count)).median;
    },
    async warmUp({ forMs }) {
      const fifths: number[] = [];
      for (let fifth = 0; fifth < FIFTHS; fifth++) {
        const part = forMs / FIFTHS;
        const { ok, elapsedNs } = await goThrough(ready(), { leastMs: part, mostMs: part });
        fifths.push((ok * NANOSECONDS_PER_SECOND) / elapsedNs);
      }
      return { fifths, seconds: forMs / 1000 };
    },
    run: (load) => goThrough(ready(), load, (done) => emit('done', done)),
    async replay({ operations: count }) {
      const { settings, client, operations } = ready();
      const plain = await roundOf('sequential', settings.command, client, operations);
      const piped = await roundOf('pipeline', settings.command, client, operations);
      const plainBegan = monotonicNs();
      await plain(0, count);
      const pipelineBegan = monotonicNs();
      await piped(0, count);
      return { plainNs: pipelineBegan - plainBegan, pipelineNs: monotonicNs() - pipelineBegan };
    },
    beginWindow: () => meter.begin(),
    endWindow: () => meter.end(),
  };
});

interface Prepared {
  readonly settings: PipeliningSettings;
  readonly client: Awaited<ReturnType<typeof connectClient>>['client'];
  readonly operations: Operations;
  readonly round: Round;
}

/** Goes through the operations, round after round and pass after pass, until the time is up. */
async function goThrough(
  { settings, operations, round }: Prepared,
  { leastMs, mostMs }: PipeliningLoad,
  tell: (done: number) => void = () => undefined,
): Promise<PipeliningReport> {
  // One by one is one by one, whatever depth it is compared at.
  const depth = settings.method === 'sequential' ? 1 : settings.depth;
  const tally = { attempted: 0, ok: 0, failed: 0, unknown: 0, wrong: 0, rounds: 0 };
  const errors: string[] = [];
  const progress: { readonly atNs: number; readonly done: number }[] = [];
  const beganNs = monotonicNs();
  let toldNs = beganNs;
  let nowNs = beganNs;
  const passed = (milliseconds: number): boolean =>
    nowNs - beganNs >= milliseconds * NANOSECONDS_PER_MILLISECOND;
  do {
    for (let from = 0; from < operations.count && !passed(mostMs); from += depth) {
      const to = Math.min(operations.count, from + depth);
      const outcomes = await round(from, to);
      nowNs = monotonicNs();
      tally.rounds++;
      for (const [offset, outcome] of outcomes.entries()) {
        tally.attempted++;
        if (outcome.state === 'ok') {
          tally.ok++;
          if (!operations.isRight(from + offset, outcome.reply)) tally.wrong++;
          continue;
        }
        tally[outcome.state === 'error' ? 'failed' : 'unknown']++;
        if (errors.length < KEPT_ERRORS) errors.push(outcome.error.message);
      }
      progress.push({ atNs: nowNs, done: tally.ok });
      if (nowNs - toldNs < TELL_EVERY_NS) continue;
      toldNs = nowNs;
      tell(tally.ok);
    }
  } while (!passed(leastMs) && !passed(mostMs));
  const halves = halvesOf(progress, beganNs, nowNs);
  return { ...tally, errors, elapsedNs: nowNs - beganNs, ...(halves && { halves }) };
}

/** Split at the end of the round that is nearest to the middle of the time. */
function halvesOf(
  progress: readonly { readonly atNs: number; readonly done: number }[],
  beganNs: number,
  endedNs: number,
): readonly [number, number] | undefined {
  const middle = progress.find(({ atNs }) => atNs >= (beganNs + endedNs) / 2);
  const last = progress.at(-1);
  if (middle === undefined || last === undefined || middle.atNs === last.atNs) return undefined;
  const rate = (count: number, nanoseconds: number): number => (count * NANOSECONDS_PER_SECOND) / nanoseconds;
  return [rate(middle.done, middle.atNs - beganNs), rate(last.done - middle.done, last.atNs - middle.atNs)];
}
