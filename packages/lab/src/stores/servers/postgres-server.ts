import { chownSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { findFreePort } from '../../redis/free-port.js';
import {
  accountOf,
  DATABASE_PASSWORD,
  DATABASE_USER,
  type DatabaseServer,
  findProgram,
  makeServerFolder,
  postgresFolders,
  runToEnd,
  superviseServer,
} from './database-server.js';

/** Starts a PostgreSQL on a free port of the loopback interface in a folder of its own. */
export async function startPostgresServer(): Promise<DatabaseServer> {
  const account = accountOf('postgres');
  const folder = await makeServerFolder('postgres', account);
  const data = join(folder, 'data');
  const port = await findFreePort();
  const passwordFile = join(folder, 'password');
  await writeFile(passwordFile, DATABASE_PASSWORD);
  if (account !== undefined) chownSync(passwordFile, account.uid, account.gid);
  runToEnd(
    findProgram('initdb', postgresFolders()),
    [
      `--pgdata=${data}`,
      `--username=${DATABASE_USER}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--no-sync',
    ],
    account,
  );
  const urlOf = (database: string): string =>
    `postgres://${DATABASE_USER}:${DATABASE_PASSWORD}@127.0.0.1:${port}/${database}`;
  const query = async (text: string): Promise<void> => {
    const client = new Client({ connectionString: urlOf('postgres'), connectionTimeoutMillis: 1_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query(text);
    } finally {
      await client.end();
    }
  };
  const settings = {
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    // Nothing here survives its process anyway, so nothing waits for durability against a power cut.
    fsync: 'off',
  };
  const server = await superviseServer({
    folder,
    program: findProgram('postgres', postgresFolders()),
    args: ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    account,
    probe: () => query('SELECT 1'),
  });
  let databases = 0;
  return {
    ...server,
    port,
    createDatabase: async () => {
      const name = `weir_${++databases}`;
      await query(`CREATE DATABASE ${name}`);
      return urlOf(name);
    },
  };
}
