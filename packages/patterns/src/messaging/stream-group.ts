import type { RedisClient } from '../client/redis-client.js';
import { deadLettersOf } from './internal/dead-letters.js';
import { assertOwnKeys, namingForeignKey, removeOwnKeys } from './internal/foreign-key.js';
import { GroupPoller } from './internal/group-poller.js';
import { groupBacklog, readGroupState } from './internal/group-state.js';
import { consumerSettings, type KeySettings, keySettings } from './internal/options.js';
import { PollingConsumer } from './internal/polling-consumer.js';
import { createProducer, type Medium } from './internal/producer.js';
import { attemptsKey } from './internal/recorded-attempts.js';
import { deadLetterKey, FIELD, integerOf } from './internal/streams.js';
import type { MessagingPattern, PatternState } from './pattern.js';

/**
 * A work queue on a stream with a consumer group: each message goes to one consumer of the group and stays
 * pending for it until it is acknowledged.
 *
 * Redis commands: XADD; XREADGROUP with `>`; XACK, in one write with the next XREADGROUP so that it costs no
 * round trip; XGROUP CREATE at the start. Now and then XAUTOCLAIM, and scripts that renew, take over, trim and leave.
 *
 * Guarantees: nothing that Redis acknowledged is lost. XACK is sent only after the handler. At the start and after
 * every reconnect a consumer first re-reads what is pending for its name. A message whose handler throws is tried
 * again after each retry delay while others go on, then moved to the dead letters (`<key>:dead`) and acknowledged
 * in one atomic step; a batch that fails as a whole is retried message by message, so a poison message takes no
 * neighbour with it. A message that takes its process down counts attempts too (`<key>:attempts:<group>`, written
 * only for messages found pending). What a consumer holds is its own for `leaseMs` without a sign of life, which it
 * gives while its handler works; then another one takes it over, and what the first one still acknowledges does not
 * count (`fenced`; how far that goes is said in `internal/group/lease.ts`). A consumer that stops gives back what it did
 * not finish, and leaves no name behind.
 * Repeats: what was handled and not yet acknowledged when the process died (up to `batch`) or lost its lease, and
 * everything kept in the stream when somebody destroys the group (it is created again from the beginning).
 * Loses: entries that are trimmed before they are handled (counted as `trimmed`; `keepHandled` never does that), and
 * order, once there are retries or several consumers.
 */

const NAME = 'stream-group';

const medium = {
  type: 'stream',
  defaultKey: 'redis:stream:group',
  bodiesPerCommand: 1,
  commands: (key, bodies) => bodies.map((body) => ['XADD', key, '*', FIELD, body]),
  // Handled entries stay in the stream, so its length says little: the slowest group counts.
  length: (client, key) => namingForeignKey(client, key, 'stream', () => groupBacklog(client, key)),
} satisfies Medium;

export const streamGroup = {
  name: NAME,
  summary: 'a stream with a consumer group: XADD, XREADGROUP, XACK; at least once, retries, dead letters',
  defaultKey: medium.defaultKey,
  capabilities: {
    delivery: 'at-least-once',
    persistence: true,
    ordering: 'none',
    fanOut: false,
    competingConsumers: true,
    replay: true,
    onHandlerError: 'retry-then-dead-letter',
    takeover: true,
  },
  commands: {
    send: [{ name: 'XADD', per: 'message' }],
    receive: [{ name: 'XREADGROUP', per: 'batch' }],
    acknowledge: [{ name: 'XACK', per: 'batch' }],
  },
  createProducer: (client, options) => createProducer(client, medium, options),
  createConsumer(client, options) {
    const settings = consumerSettings(options, medium.defaultKey);
    return new PollingConsumer(client, NAME, settings, (run, reader) => new GroupPoller(client, run, reader));
  },
  deadLetters(client, options) {
    return deadLettersOf(client, keySettings(options, medium.defaultKey).key, medium.type);
  },
  inspect: (client, options) => inspect(client, keySettings(options, medium.defaultKey)),
  async destroy(client, options) {
    const { key, group } = keySettings(options, medium.defaultKey);
    await assertOwnKeys(client, [attemptsKey(key, group)], 'hash');
    await removeOwnKeys(client, [key, deadLetterKey(key)], 'stream');
    await removeOwnKeys(client, [attemptsKey(key, group)], 'hash');
  },
} satisfies MessagingPattern;

async function inspect(client: RedisClient, { key, group }: KeySettings): Promise<PatternState> {
  const state = await namingForeignKey(client, key, 'stream', () => readGroupState(client, key, group));
  const deadKey = deadLetterKey(key);
  const deadLettered = await namingForeignKey(client, deadKey, 'stream', async () =>
    integerOf(await client.send(['XLEN', deadKey])),
  );
  const attempts = attemptsKey(key, group);
  const keys = [
    ...(state.exists ? [key] : []),
    ...(deadLettered > 0 ? [deadKey] : []),
    ...((await client.send(['EXISTS', attempts])) === 1 ? [attempts] : []),
  ];
  return { keys, unread: state.unread, pending: state.pending, deadLettered, length: state.length };
}
