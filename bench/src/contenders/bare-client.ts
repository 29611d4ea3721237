import { type Contender, KEY, type Sender } from './contender.js';
import { endTrial } from './end-trial.js';
import { connectNodeRedis, type NodeRedisClient } from './node-redis-client.js';

/**
 * No library at all: what somebody writes who calls node-redis directly, one command per message, many in one
 * pipeline. Bodies go out as they are, without the envelope that lets weir tell lost and repeated messages.
 */

interface Medium {
  /** The command that carries one body. */
  command(body: string): string[];
  length(client: NodeRedisClient): Promise<number>;
}

const list = {
  command: (body) => ['LPUSH', KEY, body],
  length: (client) => client.lLen(KEY),
} satisfies Medium;

const stream = {
  command: (body) => ['XADD', KEY, '*', 'b', body],
  length: (client) => client.xLen(KEY),
} satisfies Medium;

const channel = {
  command: (body) => ['PUBLISH', KEY, body],
  length: async () => 0,
} satisfies Medium;

export const bareList = { name: 'bare LPUSH pipeline', openSender: opener(list) } satisfies Contender;

export const bareReliableList = {
  name: 'bare LPUSH pipeline',
  openSender: opener(list),
  openReceiver: async (url, { batch }) => ({ start: (handle) => moveAndRemove(url, batch, handle) }),
} satisfies Contender;

export const bareStream = {
  name: 'bare XADD pipeline',
  openSender: opener(stream),
  openReceiver: async (url, { batch }) => ({ start: (handle) => readGroup(url, batch, handle) }),
} satisfies Contender;

export const bareChannel = {
  name: 'bare PUBLISH pipeline',
  openSender: opener(channel),
  openReceiver: async (url) => ({
    async start(handle) {
      const client = await connectNodeRedis(url);
      await client.subscribe(KEY, handle);
    },
  }),
} satisfies Contender;

function opener({ command, length }: Medium): (url: string) => Promise<Sender> {
  return async (url) => {
    const client = await connectNodeRedis(url);
    return {
      async send(bodies) {
        const pipeline = client.multi();
        for (const body of bodies) pipeline.addCommand(command(body));
        await pipeline.execAsPipeline();
      },
      waiting: () => length(client),
    };
  };
}

const GROUP = 'bare';
const BLOCK_MS = 1000;

/** RESP2's shape of an XREADGROUP reply: streams, each with its entries, each an id with its fields and values. */
type Entries = readonly (readonly [id: string, fields: readonly string[]])[];
type StreamReply = readonly (readonly [stream: string, entries: Entries])[] | null;

/** Reads, handles, acknowledges, reads again. */
async function readGroup(url: string, batch: number, handle: (body: string) => void): Promise<void> {
  const client = await connectNodeRedis(url);
  await client.xGroupCreate(KEY, GROUP, '0', { MKSTREAM: true });
  const read = [
    ...['XREADGROUP', 'GROUP', GROUP, 'consumer', 'COUNT', String(batch)],
    ...['BLOCK', String(BLOCK_MS), 'STREAMS', KEY, '>'],
  ];
  const loop = async (): Promise<never> => {
    for (;;) {
      const reply = await client.sendCommand<StreamReply>(read);
      const entries = reply?.[0]?.[1] ?? [];
      if (entries.length === 0) continue;
      const acknowledge = ['XACK', KEY, GROUP];
      for (const [id, fields] of entries) {
        handle(fields[1] ?? '');
        acknowledge.push(id);
      }
      client.sendCommand(acknowledge).catch(endTrial);
    }
  };
  loop().catch(endTrial);
}

const PROCESSING = `${KEY}:processing`;

/**
 * Moves, handles, removes, moves again. One command per message, as a list has none for several, but many in one write:
 * the others of a batch follow the one that waits.
 */
async function moveAndRemove(url: string, batch: number, handle: (body: string) => void): Promise<void> {
  const client = await connectNodeRedis(url);
  const wait = ['BLMOVE', KEY, PROCESSING, 'RIGHT', 'LEFT', String(BLOCK_MS / 1000)];
  const move = ['LMOVE', KEY, PROCESSING, 'RIGHT', 'LEFT'];
  const loop = async (): Promise<never> => {
    for (;;) {
      const moves = client.multi().addCommand(wait);
      for (let count = 1; count < batch; count++) moves.addCommand(move);
      const removals = client.multi();
      for (const body of await moves.execAsPipeline()) {
        if (typeof body !== 'string') continue;
        handle(body);
        removals.addCommand(['LREM', PROCESSING, '-1', body]);
      }
      removals.execAsPipeline().catch(endTrial);
    }
  };
  loop().catch(endTrial);
}
