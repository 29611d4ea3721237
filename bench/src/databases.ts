import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DatabaseServer, startMariadbServer, startPostgresServer } from './lab.js';

export type DatabaseName = 'sqlite' | 'mysql' | 'postgres';

/** Databases of the bench's own. */
export interface Databases {
  /**
   * Makes an empty one; a server is started when it is first asked for.
   * @returns its address, as a store takes it
   * @throws {WeirError} STORE_UNREACHABLE without the server's program
   */
  create(name: DatabaseName): Promise<string>;
  /** Ends the servers and removes every file. */
  close(): Promise<void>;
}

const START = { mysql: startMariadbServer, postgres: startPostgresServer };

export function openDatabases(): Databases {
  const servers = new Map<keyof typeof START, Promise<DatabaseServer>>();
  const folders: string[] = [];

  const serverOf = (name: keyof typeof START): Promise<DatabaseServer> => {
    const server = servers.get(name) ?? START[name]();
    servers.set(name, server);
    return server;
  };

  return {
    async create(name) {
      if (name !== 'sqlite') return (await serverOf(name)).createDatabase();
      const folder = await mkdtemp(join(tmpdir(), 'weir-bench-'));
      folders.push(folder);
      return `sqlite:${join(folder, 'messages.db')}`;
    },
    async close() {
      // One that did not start has already failed its trial.
      await Promise.all(
        [...servers.values()].map((server) => server.then(({ stop }) => stop()).catch(() => undefined)),
      );
      await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
    },
  };
}
