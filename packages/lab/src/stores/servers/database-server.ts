import { spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, readdirSync } from 'node:fs';
import { mkdtemp, open, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WeirError } from '../../core/errors.js';
import { startGuardian } from '../../redis/guardian.js';

/** A real database server for tests and the bench: its own port, its own folder, gone when its process is. */
export interface DatabaseServer {
  readonly port: number;
  /** Makes an empty database and answers its URL, password included. */
  createDatabase(): Promise<string>;
  /** SIGKILL, as a crash would. Resolves when the port is silent. */
  kill(): Promise<void>;
  /** Starts it again on the same port and folder and waits until it answers; crashes it first when it runs. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** The account of a server and its password, which must never be seen anywhere. */
export const DATABASE_USER = 'weir';
export const DATABASE_PASSWORD = 'n0t-for-the-log';

/** Database servers refuse to run as root: as root they are given the account of their package. */
export function accountOf(user: string): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag: string): number => Number(spawnSync('id', [flag, user], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}

/**
 * A program on the PATH, in sbin or in the folder that Debian hides it in.
 * @returns undefined where it is not installed
 */
export function locateProgram(name: string, folders: readonly string[] = []): string | undefined {
  const places = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', ...folders];
  return places.map((folder) => join(folder, name)).find((file) => existsSync(file));
}

/** @throws {WeirError} STORE_UNREACHABLE when it is not installed */
export function findProgram(name: string, folders: readonly string[] = []): string {
  const found = locateProgram(name, folders);
  if (found !== undefined) return found;
  throw new WeirError('STORE_UNREACHABLE', `${name} is not installed`, {
    remedy: 'install it with the package manager of your system; npm test does it by itself where it can',
  });
}

/** `/usr/lib/postgresql/15/bin` and the like, newest first. */
export function postgresFolders(): string[] {
  const root = '/usr/lib/postgresql';
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, 'bin'));
}

/** An empty folder that belongs to the account. */
export async function makeServerFolder(name: string, account: { uid: number; gid: number } | undefined) {
  const folder = await mkdtemp(join(tmpdir(), `weir-${name}-`));
  if (account !== undefined) chownSync(folder, account.uid, account.gid);
  return folder;
}

/** Runs a program to its end. @throws Error with what it printed */
export function runToEnd(
  program: string,
  args: readonly string[],
  account: { uid: number; gid: number } | undefined,
) {
  const ran = spawnSync(program, args, { ...account, cwd: '/', encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`${program} failed: ${ran.error ?? ''}${ran.stdout}${ran.stderr}`);
}

const START_DEADLINE_MS = 30_000;
const POLL_MS = 10;

/** Keeps one server process alive between `start` and `stop`. Nothing of it outlives this process. */
export async function superviseServer(options: {
  readonly folder: string;
  readonly program: string;
  readonly args: readonly string[];
  readonly account: { uid: number; gid: number } | undefined;
  /** Throws while the server does not answer. */
  readonly probe: () => Promise<void>;
}): Promise<Pick<DatabaseServer, 'kill' | 'restart' | 'stop'>> {
  const { folder, program, args, account, probe } = options;
  const guardian = startGuardian(folder);
  const log = join(folder, 'server.log');
  let running: { readonly group: number; readonly exited: Promise<void> } | undefined;

  const start = async (): Promise<void> => {
    const output = await open(log, 'a');
    const child = spawn(program, args, {
      ...account,
      cwd: folder,
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
    });
    await output.close();
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    if (child.pid === undefined) throw new Error(`${program} cannot be run`);
    guardian.watch(child.pid);
    running = { group: child.pid, exited };
    const deadline = performance.now() + START_DEADLINE_MS;
    for (;;) {
      if (child.exitCode !== null) throw new Error(`${program} ended: ${await readFile(log, 'utf8')}`);
      const reason = await probe().then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      if (reason === undefined) return;
      if (performance.now() > deadline) {
        throw new Error(`${program} did not answer within ${START_DEADLINE_MS} ms`, { cause: reason.error });
      }
      await delay(POLL_MS);
    }
  };
  const kill = async (): Promise<void> => {
    if (running === undefined) return;
    process.kill(-running.group, 'SIGKILL');
    await running.exited;
    guardian.watch(undefined);
    running = undefined;
  };

  try {
    await start();
  } catch (error) {
    await kill();
    await guardian.release();
    throw error;
  }
  return {
    kill,
    restart: async () => {
      await kill();
      await start();
    },
    stop: async () => {
      await kill();
      await guardian.release();
    },
  };
}
