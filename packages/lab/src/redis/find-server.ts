import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { WeirError } from '../core/errors.js';

/** Programs that speak the protocol and take the same configuration, in the order they are looked for. */
export const SERVER_PROGRAMS = ['redis-server', 'valkey-server'] as const;

/** The one command that brings a server to this machine. */
export function installCommand(platform: NodeJS.Platform = process.platform): string {
  return platform === 'darwin' ? 'brew install redis' : 'sudo apt-get install -y redis-server';
}

/**
 * Finds the server program.
 * @param given path the user named; nothing else is tried then
 * @returns absolute or given path of an executable file
 * @throws {WeirError} REDIS_MISSING with the command that installs one
 */
export async function findServer(given?: string): Promise<string> {
  if (given !== undefined) {
    if (await isExecutable(given)) return given;
    throw new WeirError('REDIS_MISSING', `${given} is not a program that can be run`, {
      remedy: `name a redis-server or valkey-server, or leave the option out to use the one on the PATH`,
    });
  }
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  for (const program of SERVER_PROGRAMS) {
    for (const folder of folders) {
      const path = join(folder, program);
      if (await isExecutable(path)) return path;
    }
  }
  throw new WeirError('REDIS_MISSING', `neither ${SERVER_PROGRAMS.join(' nor ')} is on the PATH`, {
    remedy: `install it with: ${installCommand()}`,
  });
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
