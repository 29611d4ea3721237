import type { RedisClient, RedisReply } from '../client/redis-client.js';
import type { BlockingReader } from './internal/blocking-reader.js';
import { assertOwnKeys, removeOwnKeys } from './internal/foreign-key.js';
import { listMedium } from './internal/list-medium.js';
import { ReceivedMessage } from './internal/message.js';
import { consumerSettings, keySettings } from './internal/options.js';
import { type Phase, type Poller, PollingConsumer } from './internal/polling-consumer.js';
import { createProducer } from './internal/producer.js';
import type { Run } from './internal/run.js';
import type { MessagingPattern } from './pattern.js';

/**
 * A work queue on a list: producers push on the left, consumers pop on the right, each message goes to one of
 * them.
 *
 * Redis commands: LPUSH (many bodies in one call); BRPOP, and for a batch of n `RPOP key n-1` in the same write,
 * which runs the moment BRPOP is served.
 *
 * Guarantees: messages wait in Redis until somebody pops them, oldest first. The option `from` has no meaning
 * here: what waits in the list is what is new.
 * Loses: a pop is not a delivery. What was popped and not handled is gone when the handler throws (counted as
 * dropped), when the process dies (up to `batch`), and when the connection breaks between the pop and our
 * reading of the reply (up to `batch`).
 */

const NAME = 'queue';

const medium = listMedium('redis:queue');

export const queue = {
  name: NAME,
  summary: 'a list: LPUSH and BRPOP; each message to one consumer, lost if that one fails',
  defaultKey: medium.defaultKey,
  capabilities: {
    delivery: 'at-most-once',
    persistence: true,
    ordering: 'total',
    fanOut: false,
    competingConsumers: true,
    replay: true,
    onHandlerError: 'drop',
  },
  commands: {
    send: [{ name: 'LPUSH', per: 'batch' }],
    receive: [
      { name: 'BRPOP', per: 'batch' },
      { name: 'RPOP', per: 'batch' },
    ],
    acknowledge: [],
  },
  createProducer: (client, options) => createProducer(client, medium, options),
  createConsumer(client, options) {
    const settings = consumerSettings(options, medium.defaultKey);
    return new PollingConsumer(client, NAME, settings, (run, reader) => new QueuePoller(client, run, reader));
  },
  async inspect(client, options) {
    const { key } = keySettings(options, medium.defaultKey);
    const length = await medium.length(client, key);
    return { keys: length > 0 ? [key] : [], unread: length, pending: 0, deadLettered: 0, length };
  },
  async destroy(client, options) {
    const { key } = keySettings(options, medium.defaultKey);
    await removeOwnKeys(client, [key], 'list');
  },
} satisfies MessagingPattern;

class QueuePoller implements Poller {
  readonly #client: RedisClient;
  readonly #run: Run;
  readonly #reader: () => BlockingReader;
  /** Messages popped so far; names the place of a foreign message, which has no id of its own. */
  #popped = 0;

  constructor(client: RedisClient, run: Run, reader: () => BlockingReader) {
    this.#client = client;
    this.#run = run;
    this.#reader = reader;
  }

  async open(): Promise<void> {
    await assertOwnKeys(this.#client, [this.#run.settings.key], 'list');
  }

  reconnected(): void {
    // A pop leaves nothing behind that could be read again.
  }

  /** Drained when a pop finds nothing: what was pushed before the stop has been popped by then. */
  async poll(phase: Phase): Promise<'more' | 'done'> {
    if (phase === 'finishing') return 'done';
    const bodies = await this.#pop(phase === 'running');
    if (bodies.length > 0) await this.#handle(bodies);
    return bodies.length > 0 ? 'more' : 'done';
  }

  async #pop(wait: boolean): Promise<Buffer[]> {
    const { key, batch, blockMs } = this.#run.settings;
    const first = ['BRPOP', key, String(blockMs / 1000)];
    const rest = ['RPOP', key, String(batch - 1)];
    const commands = !wait ? [['RPOP', key, String(batch)]] : batch > 1 ? [first, rest] : [first];
    const outcomes = await this.#reader().exchange(commands, wait ? blockMs : 0);
    const bodies: Buffer[] = [];
    let failure: Error | undefined;
    for (const outcome of outcomes) {
      if (outcome.state === 'ok') bodies.push(...bodiesOf(outcome.reply, outcome === outcomes[0] && wait));
      else failure ??= outcome.error;
    }
    // What was popped counts first: it is in no other place any more.
    if (failure !== undefined && bodies.length === 0) throw failure;
    if (failure !== undefined) this.#run.report(failure);
    this.#run.counters.polled();
    return bodies;
  }

  async #handle(bodies: readonly Buffer[]): Promise<void> {
    const { counters, settings } = this.#run;
    counters.take(bodies.length);
    const messages = bodies.map((raw) => new ReceivedMessage(raw, `${settings.key}#${this.#popped++}`));
    const failures = await this.#run.handOver(messages);
    counters.dropped += failures.size;
    counters.inFlight -= bodies.length;
    for (const error of new Set(failures.values())) this.#run.report(error);
  }
}

/** BRPOP answers `[key, body]`, RPOP with a count `[body, ...]`; both nil when there is nothing. */
function bodiesOf(reply: RedisReply, withKey: boolean): Buffer[] {
  if (!Array.isArray(reply)) return [];
  return reply.slice(withKey ? 1 : 0).filter((item) => Buffer.isBuffer(item));
}
