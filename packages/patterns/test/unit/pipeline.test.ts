import { describe, expect, it } from 'vitest';
import type { RedisCommand } from '../../src/client/redis-client.js';
import { pipeline } from '../../src/pipelining/pipeline.js';

/** Bytes of the arguments in each write. */
async function bytesOfChunks(commands: readonly RedisCommand[], maxBytesPerChunk: number): Promise<number[]> {
  const chunks: number[] = [];
  const target = {
    sendMany: async (chunk: readonly RedisCommand[]) => {
      chunks.push(chunk.flat().reduce((sum, argument) => sum + Buffer.byteLength(argument), 0));
      return [];
    },
  };
  await pipeline(target, { maxBytesPerChunk, maxChunksInFlight: 1 }).send(commands);
  return chunks;
}

describe('a chunk is filled up to its bytes, and not beyond', () => {
  it.each([
    ['text of one byte each', 'x'.repeat(98), 1000, [1000, 1000, 1000]],
    ['text of two bytes each', 'é'.repeat(49), 1000, [1000, 1000, 1000]],
    ['text of three bytes each', '€'.repeat(32), 980, [980, 980, 980]],
    ['pairs of surrogates', '😀'.repeat(24), 980, [980, 980, 980]],
    ['bytes', Buffer.alloc(98), 1000, [1000, 1000, 1000]],
  ])('%s', async (_what, value, maxBytes, expected) => {
    const commands = Array.from({ length: 30 }, (): RedisCommand => ['GO', value]);
    expect(await bytesOfChunks(commands, maxBytes)).toEqual(expected);
  });

  it('of a mixture that does not fit evenly', async () => {
    const commands = ['x'.repeat(500), 'é'.repeat(200), 'x'.repeat(99), 'x', '€'.repeat(10)];
    expect(
      await bytesOfChunks(
        commands.map((text) => ['', text]),
        1000,
      ),
    ).toEqual([1000, 30]);
  });
});
