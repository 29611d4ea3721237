import type { RedisClient, RedisConnection, RedisReply } from '@weir/patterns';

/**
 * The consumers of the published fault scenario, flaws and all: they count what they would have stored. None of this is
 * how a consumer should be written; what is wrong stands beside each.
 */
export interface PublishedConsumer {
  /** What the publication says: the highest figure, and in words. */
  readonly published: { readonly stored: number; readonly words: string };
  /** Sends one message. */
  readonly send: (client: RedisClient, key: string, body: string) => Promise<unknown>;
  /** Reads until nothing more will be stored; resolves with how many were. `sent` tells whether all have been sent. */
  readonly consume: (stage: ConsumeStage) => Promise<number>;
}

export interface ConsumeStage {
  readonly client: RedisClient;
  readonly connection: RedisConnection;
  readonly key: string;
  /** An exception at every so many messages or batches. */
  readonly every: number;
  readonly isSent: () => boolean;
  /** To be called once every message sent from now on will be seen. */
  readonly ready: () => void;
}

const READ_COUNT = '100';
const BLOCK_MS = '100';
const RETRY_DELAYS_MS = [100, 200, 400];

/** The first exception ends the loop: what is still in the list stays there, and what was popped is gone. */
const queue: PublishedConsumer = {
  published: { stored: 30, words: '3 to 30' },
  send: (client, key, body) => client.send(['LPUSH', key, body]),
  async consume({ connection, key, every, isSent, ready }) {
    ready();
    for (let read = 0, stored = 0; ; ) {
      const reply = await connection.send(['BRPOP', key, '0.1']);
      if (reply === null && isSent()) return stored;
      if (reply === null) continue;
      if (++read % every === 0) return stored;
      stored++;
    }
  },
};

/** As the queue, but the exception hits a whole batch, so how much is lost is a matter of how large batches happen to be. */
const streamXread: PublishedConsumer = {
  published: { stored: 9, words: '6 to 9' },
  send: (client, key, body) => client.send(['XADD', key, '*', 'm', body]),
  async consume({ connection, key, every, isSent, ready }) {
    let offset = '0-0';
    ready();
    for (let batches = 0, stored = 0; ; ) {
      const ids = idsOf(
        await connection.send(['XREAD', 'COUNT', READ_COUNT, 'BLOCK', BLOCK_MS, 'STREAMS', key, offset]),
      );
      if (ids.length === 0 && isSent()) return stored;
      if (ids.length === 0) continue;
      if (++batches % every === 0) return stored;
      stored += ids.length;
      offset = ids.at(-1) ?? offset;
    }
  },
};

/** The one that survives: a batch that failed is not acknowledged and is read again from 0-0, three times. */
const streamGroup: PublishedConsumer = {
  published: { stored: 100, words: '100' },
  send: streamXread.send,
  async consume({ client, connection, key, every, isSent, ready }) {
    await client.send(['XGROUP', 'CREATE', key, 'published', '0', 'MKSTREAM']);
    ready();
    const read = async (from: string): Promise<string[]> =>
      idsOf(
        await connection.send([
          ...['XREADGROUP', 'GROUP', 'published', 'one', 'COUNT', READ_COUNT, 'BLOCK', BLOCK_MS],
          ...['STREAMS', key, from],
        ]),
      );
    for (let batches = 0, stored = 0; ; ) {
      let ids = await read('>');
      if (ids.length === 0 && isSent()) return stored;
      if (ids.length === 0) continue;
      for (const delayMs of RETRY_DELAYS_MS) {
        if (++batches % every !== 0) break;
        await new Promise((resolve) => setTimeout(resolve, delayMs));
        ids = await read('0-0');
      }
      await client.send(['XACK', key, 'published', ...ids]);
      stored += ids.length;
    }
  },
};

/** The exception costs the message it hits and no other. */
const pubsub: PublishedConsumer = {
  published: { stored: 75, words: '75' },
  send: (client, key, body) => client.send(['PUBLISH', key, body]),
  async consume({ client, key, every, isSent, ready }) {
    let received = 0;
    let stored = 0;
    const subscription = await client.subscribe(
      key,
      () => {
        if (++received % every !== 0) stored++;
      },
      { name: 'weir-replay' },
    );
    ready();
    while (!isSent()) await new Promise((resolve) => setTimeout(resolve, 10));
    // Redis confirms the end of the subscription after all that was published before.
    await subscription.close();
    return stored;
  },
};

export const PUBLISHED_CONSUMERS = {
  queue,
  'stream-xread': streamXread,
  'stream-group': streamGroup,
  pubsub,
} as const satisfies Record<string, PublishedConsumer>;

/** Ids of the entries in the reply of an XREAD or XREADGROUP of one stream. */
function idsOf(reply: RedisReply): string[] {
  const stream = Array.isArray(reply) ? reply[0] : undefined;
  const entries = Array.isArray(stream) ? stream[1] : undefined;
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry) => (Array.isArray(entry) ? [String(entry[0])] : []));
}
