import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WeirError } from '../core/errors.js';
import type { Milliseconds } from '../core/units.js';
import { findServer } from './find-server.js';
import { findFreePort } from './free-port.js';
import { type Guardian, startGuardian } from './guardian.js';
import { probe } from './probe.js';

export interface RedisServerOptions {
  /** Program to run. Default: redis-server, then valkey-server, from the PATH. */
  readonly serverPath?: string;
  /**
   * Lines of redis.conf, by directive, values as redis.conf writes them: `{ appendonly: 'yes', save: '60 1' }`.
   * They win over the defaults: no snapshots, no append-only file.
   */
  readonly config?: Readonly<Record<string, string>>;
  /** Port to listen on. Default: a free one, and another when it was taken in the meantime. */
  readonly port?: number;
  /** Where the server's folder is made. Default: the system's folder for temporary files. */
  readonly parentFolder?: string;
  /** How long it may take until PING is answered, loading of a data set included. Default 30,000. */
  readonly startDeadlineMs?: Milliseconds;
}

export interface ServerExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A real server on the loopback interface, in a temporary folder, that cannot outlive this process. */
export interface RedisServer {
  /** URL for clients; carries the password when `requirepass` was configured. */
  readonly url: string;
  readonly port: number;
  /** Holds redis.conf, redis.log and whatever the server persists. Removed by `stop`. */
  readonly folder: string;
  /** Of the current process: another after `restart`. */
  readonly pid: number;
  /** Resolves when the current process ends, for whatever reason. Never rejects. */
  readonly exited: Promise<ServerExit>;
  /** SIGKILL, as a crash would: nothing is flushed. The folder stays, for `restart`. */
  kill(): Promise<ServerExit>;
  /**
   * Starts it again on the same port and folder; ends it in order first when it still runs.
   * @throws {WeirError} REDIS_GONE when it does not come back
   */
  restart(): Promise<void>;
  /** Ends it in order (SIGTERM, SIGKILL after 5 s) and removes the folder. Idempotent. */
  stop(): Promise<void>;
}

const DEFAULTS = { save: '""', appendonly: 'no' } as const satisfies Record<string, string>;
const PORT_ATTEMPTS = 5;
const POLL_MS = 10;
const STOP_DEADLINE_MS = 5_000;

/**
 * Starts a server and resolves when it answers PING.
 * @throws {WeirError} REDIS_MISSING without a program, REDIS_GONE when it ends or stays silent, CANNOT_WRITE
 *   without a folder
 */
export async function startRedisServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  const program = await findServer(options.serverPath);
  const folder = await makeFolder(options.parentFolder ?? tmpdir());
  const guardian = startGuardian(folder);
  const deadlineMs = options.startDeadlineMs ?? 30_000;
  try {
    for (let attempt = 1; ; attempt++) {
      const port = options.port ?? (await findFreePort());
      const launch = { program, folder, port, config: { ...DEFAULTS, ...options.config }, guardian };
      const started = await launchServer(launch, deadlineMs);
      if (started.state === 'ready') return serverHandle(launch, started.process, deadlineMs);
      const mayTryAnother = options.port === undefined && attempt < PORT_ATTEMPTS;
      if (started.state === 'failed' || !mayTryAnother) throw gone(program, started.reason);
    }
  } catch (error) {
    await guardian.release();
    throw error;
  }
}

interface Launch {
  readonly program: string;
  readonly folder: string;
  readonly port: number;
  readonly config: Readonly<Record<string, string>>;
  readonly guardian: Guardian;
}

interface ServerProcess {
  readonly pid: number;
  readonly exited: Promise<ServerExit>;
  signal(name: 'SIGTERM' | 'SIGKILL'): void;
}

type Started =
  | { readonly state: 'ready'; readonly process: ServerProcess }
  | { readonly state: 'port-taken'; readonly reason: string }
  | { readonly state: 'failed'; readonly reason: string };

function serverHandle(launch: Launch, first: ServerProcess, deadlineMs: Milliseconds): RedisServer {
  let current = first;
  return {
    url: urlOf(launch),
    port: launch.port,
    folder: launch.folder,
    get pid() {
      return current.pid;
    },
    get exited() {
      return current.exited;
    },
    kill: () => {
      current.signal('SIGKILL');
      return current.exited;
    },
    restart: async () => {
      await end(current);
      const started = await launchServer(launch, deadlineMs);
      if (started.state !== 'ready') throw gone(launch.program, started.reason);
      current = started.process;
    },
    stop: async () => {
      await end(current);
      await launch.guardian.release();
    },
  };
}

/** Runs the program once and waits until *it* answers: another server may sit on a port that was free before. */
async function launchServer(launch: Launch, deadlineMs: Milliseconds): Promise<Started> {
  await writeFile(join(launch.folder, 'redis.conf'), configuration(launch));
  const log = join(launch.folder, 'redis.log');
  const output = await open(log, 'w');
  // Detached: a session and process group of its own, so that Ctrl-C in the terminal reaches weir alone, which
  // then ends the server when the trial is wound up; and so that forks for snapshots can be killed with it.
  // It writes to the file itself: a pipe would stay open in such a fork and stall the server when we are paused.
  const child = spawn(launch.program, ['redis.conf'], {
    cwd: launch.folder,
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
  });
  const pid = child.pid;
  launch.guardian.watch(pid);
  let alive = true;
  const exited = new Promise<ServerExit>((resolve) => {
    child.once('exit', (code, signal) => {
      alive = false;
      launch.guardian.watch(undefined);
      resolve({ code, signal });
    });
  });
  if (pid === undefined) {
    const [error] = await once(child, 'error');
    await output.close();
    return { state: 'failed', reason: String(error) };
  }
  await output.close();
  const server: ServerProcess = { pid, exited, signal: (name) => alive && killGroup(pid, name) };

  const deadline = performance.now() + deadlineMs;
  let last = 'it was not asked';
  while (alive && performance.now() < deadline) {
    // Patient with a machine under load, but not with a stranger that took the port while our process ended.
    const answer = await Promise.race([probe(urlOf(launch), deadline - performance.now()), exited]);
    if (!('state' in answer)) break;
    if (answer.state === 'ready' && answer.processId === pid) return { state: 'ready', process: server };
    last = answer.state === 'ready' ? 'another server answers on its port' : answer.error.message;
    await Promise.race([exited, delay(POLL_MS)]);
  }
  if (alive) {
    server.signal('SIGKILL');
    await exited;
    return { state: 'failed', reason: `it did not answer within ${deadlineMs} ms: ${last}` };
  }
  const written = await readFile(log, 'utf8');
  const state = /address already in use/i.test(written) ? 'port-taken' : 'failed';
  return { state, reason: written.trim().split('\n').at(-1)?.trim() || 'it ended without a word' };
}

async function end(server: ServerProcess): Promise<void> {
  server.signal('SIGTERM');
  const patience = new AbortController();
  const late = delay(STOP_DEADLINE_MS, 'late', { signal: patience.signal }).catch(() => undefined);
  if ((await Promise.race([server.exited, late])) === 'late') server.signal('SIGKILL');
  await server.exited;
  patience.abort();
}

/** The whole group: a child that writes a snapshot or rewrites the append-only file goes with its parent. */
function killGroup(group: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-group, signal);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** redis.conf rather than arguments: servers before 7 split multi-word arguments differently. */
function configuration({ folder, port, config }: Launch): string {
  const lines = Object.entries(config).map(
    ([directive, value]) => `${directive} ${value === '' ? '""' : value}`,
  );
  return [
    'bind 127.0.0.1',
    'protected-mode yes',
    `port ${port}`,
    'daemonize no',
    `dir ${JSON.stringify(folder)}`,
    'logfile ""',
    ...lines,
    '',
  ].join('\n');
}

function urlOf({ port, config }: Launch): string {
  const password = config.requirepass?.replace(/^"(.*)"$/, '$1');
  return `redis://${password ? `:${encodeURIComponent(password)}@` : ''}127.0.0.1:${port}`;
}

async function makeFolder(parent: string): Promise<string> {
  try {
    return await mkdtemp(join(parent, 'weir-redis-'));
  } catch (cause) {
    throw new WeirError('CANNOT_WRITE', `no folder for redis-server can be made in ${parent}`, {
      cause,
      remedy: 'make the folder writable or set TMPDIR to another one',
    });
  }
}

function gone(program: string, reason: string): WeirError {
  return new WeirError('REDIS_GONE', `${basename(program)} did not start: ${reason}`, {
    remedy: 'run it by hand to see why, or name another one with --redis-server',
  });
}
