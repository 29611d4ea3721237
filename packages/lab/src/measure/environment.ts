import { cpus, loadavg, platform, release, totalmem } from 'node:os';
import type { RedisClient } from '@weir/patterns';
import { version } from '../core/version.js';
import { clientLibraries } from '../redis/clients.js';
import { identity, snapshot } from '../redis/info.js';
import { pingRoundTrip, readConfiguration } from '../redis/inspect.js';
import type { ManagedOrGivenRedis } from '../redis/redis-target.js';
import type { Environment } from './result.js';

/**
 * Where a run was made: everything a reader needs to judge whether its figures apply to them, and what is compared
 * before and after to see whether the ground moved.
 */
export async function describeEnvironment(
  client: RedisClient,
  redis: ManagedOrGivenRedis,
): Promise<Environment> {
  const server = identity(await snapshot(client));
  const config = await readConfiguration(client);
  const processors = cpus();
  const [one = 0, five = 0, fifteen = 0] = loadavg();
  return {
    weir: version,
    node: process.versions.node,
    clients: Object.fromEntries(clientLibraries.map(({ name, version }) => [name, version])),
    server: {
      software: server.software,
      version: server.version,
      runId: server.runId,
      managed: redis.managed,
      address: redis.address,
      config,
    },
    cpu: {
      model: processors[0]?.model.trim() ?? 'unknown',
      count: Math.max(1, processors.length),
      speedMHz: processors[0]?.speed ?? 0,
    },
    memoryBytes: totalmem(),
    loadAverage: [one, five, fifteen],
    platform: platform(),
    kernel: release(),
    pingNs: await pingRoundTrip(client),
  };
}

/** Names of what changed between two descriptions of the same run: configuration, server, processors. */
export function environmentChanges(before: Environment, after: Environment): string[] {
  const changes: string[] = [];
  if (before.server.runId !== after.server.runId) changes.push('the server was restarted (another run_id)');
  if (before.cpu.count !== after.cpu.count) {
    changes.push(`processors went from ${before.cpu.count} to ${after.cpu.count}`);
  }
  for (const name of new Set([...Object.keys(before.server.config), ...Object.keys(after.server.config)])) {
    const [old, now] = [before.server.config[name], after.server.config[name]];
    if (old !== now) changes.push(`CONFIG ${name} went from ${old ?? 'unset'} to ${now ?? 'unset'}`);
  }
  return changes;
}
