import { join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { findFreePort } from '../../redis/free-port.js';
import {
  accountOf,
  DATABASE_PASSWORD,
  DATABASE_USER,
  type DatabaseServer,
  findProgram,
  makeServerFolder,
  runToEnd,
  superviseServer,
} from './database-server.js';

/** Starts a MariaDB on a free port of the loopback interface in a folder of its own. */
export async function startMariadbServer(): Promise<DatabaseServer> {
  const account = accountOf('mysql');
  const folder = await makeServerFolder('mariadb', account);
  const data = join(folder, 'data');
  const port = await findFreePort();
  runToEnd(
    findProgram('mariadb-install-db'),
    ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'],
    account,
  );
  const asRoot = { host: '127.0.0.1', port, user: 'root' };
  const probe = async (): Promise<void> => {
    await (await createConnection({ ...asRoot, connectTimeout: 1_000 })).end();
  };
  const server = await superviseServer({
    folder,
    program: findProgram('mariadbd'),
    args: [
      '--no-defaults',
      `--datadir=${data}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      `--socket=${join(folder, 'mariadb.sock')}`,
      `--pid-file=${join(folder, 'mariadb.pid')}`,
      // Nothing here survives its process anyway, so nothing waits for durability against a power cut.
      '--innodb-flush-log-at-trx-commit=2',
      '--innodb-buffer-pool-size=64M',
      '--innodb-log-file-size=64M',
      '--skip-name-resolve',
    ],
    account,
    probe,
  });
  let databases = 0;
  return {
    ...server,
    port,
    createDatabase: async () => {
      const name = `weir_${++databases}`;
      const connection = await createConnection(asRoot);
      await connection.query(`CREATE DATABASE ${name}`);
      await connection.query(
        `GRANT ALL ON ${name}.* TO ${DATABASE_USER}@'127.0.0.1' IDENTIFIED BY '${DATABASE_PASSWORD}'`,
      );
      await connection.end();
      return `mysql://${DATABASE_USER}:${DATABASE_PASSWORD}@127.0.0.1:${port}/${name}`;
    },
  };
}
