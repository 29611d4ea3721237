import type { RedisClient, RedisReply } from '@weir/patterns';
import { describe, expect, it } from 'vitest';
import {
  type ConnectionNeeds,
  memoryOf,
  mostUsers,
  refuseBeyondMaxClients,
  refuseBeyondMemory,
  refuseBeyondOpenFiles,
} from '../../../src/experiments/connections/limits.js';
import { parseChoices } from '../../../src/experiments/connections/strategy-choice.js';

async function needs(strategy: string, changes: Partial<ConnectionNeeds> = {}): Promise<ConnectionNeeds> {
  const choices = await parseChoices(strategy === 'pool' ? { strategy, pool: '8,128' } : { strategy });
  return { choices, apps: 2, appsAreGiven: false, producers: 1, users: 100, ...changes };
}

/** Answers INFO and nothing else. */
function redisSaying(info: string): RedisClient {
  const refuse = (): never => {
    throw new Error('only INFO is asked for');
  };
  return {
    library: 'fixture',
    send: async (): Promise<RedisReply> => Buffer.from(info),
    sendMany: refuse,
    openConnection: refuse,
    subscribe: refuse,
    close: async () => undefined,
  };
}

describe('what the machine bears', () => {
  it('counts the sockets of an app and of the load, twice for a connection per request', async () => {
    expect(mostUsers(await needs('multiplexed'), 1024)).toBe(1024 - 64);
    expect(mostUsers(await needs('multiplexed', { producers: 4 }), 1024)).toBe(2 * (1024 - 64 - 1));
    expect(mostUsers(await needs('per-request', { producers: 4 }), 1024)).toBe(2 * 479);
    expect(mostUsers(await needs('pool'), 100)).toBe(0);
  });

  it('refuses more users, and larger pools, than files may be open', async () => {
    const fits = await needs('multiplexed');
    expect(() => refuseBeyondOpenFiles(fits, 1024)).not.toThrow();
    expect(() => refuseBeyondOpenFiles({ ...fits, users: 961 }, 1024)).toThrow(
      /--users is "961"; it must be at most 960 .* may open 1024 files/,
    );
    const pools = await needs('pool');
    expect(() => refuseBeyondOpenFiles(pools, 150)).toThrow(/--pool is "128"; it must be below 86/);
  });

  it('refuses entries beyond half of the free memory, with the estimate', () => {
    expect(() => refuseBeyondMemory(1_000, memoryOf(1_000))).not.toThrow();
    expect(() => refuseBeyondMemory(10_000_000, 2 ** 30)).toThrow(
      /10000000 entries need about 1\.68 GiB in Redis; 1\.00 GiB may be used here/,
    );
  });
});

describe('what the Redis of the run bears', () => {
  const info = 'connected_clients:3\r\nmaxclients:100\r\n';

  it('refuses a pool that opens more connections than maxclients', async () => {
    await expect(refuseBeyondMaxClients(redisSaying(info), await needs('pool'))).rejects.toThrow(
      /pool-128 may open 260 connections with 2 apps; 3 are open, and this Redis takes 100/,
    );
  });

  it('counts a connection per user where each request opens one', async () => {
    await expect(refuseBeyondMaxClients(redisSaying(info), await needs('per-request'))).rejects.toThrow(
      /per-request may open 104 connections/,
    );
    await refuseBeyondMaxClients(redisSaying(info), await needs('per-request', { users: 90 }));
    await refuseBeyondMaxClients(redisSaying(info), await needs('multiplexed'));
  });

  it('says nothing of apps of the user, nor of a server that does not tell', async () => {
    await refuseBeyondMaxClients(redisSaying(info), await needs('pool', { appsAreGiven: true }));
    await refuseBeyondMaxClients(redisSaying('connected_clients:3\r\n'), await needs('pool'));
  });
});
