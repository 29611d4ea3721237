import { execFile } from 'node:child_process';
import { statfs } from 'node:fs/promises';
import { availableParallelism, freemem, tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { WeirError } from '../core/errors.js';
import { formatBytes } from '../core/units.js';
import { findServer, installCommand } from '../redis/find-server.js';

/** What a probe saw. `low`: weir runs, and its figures suffer. `missing`: weir cannot run. */
export type ProbeReport =
  | { readonly state: 'ok'; readonly found: string }
  | { readonly state: 'low' | 'missing'; readonly found: string; readonly mend: string };

export interface DoctorProbe {
  readonly name: string;
  probe(): Promise<ProbeReport>;
}

const OLDEST_NODE = [20, 19] as const;
/** Producer, Redis and consumer each want one; with two they share, and the report says who was the limit. */
const FEWEST_CORES = 2;
const LEAST_MEMORY_BYTES = 2 ** 30;
const LEAST_DISK_BYTES = 2 ** 30;
/** A connection is an open file, on the side of weir and on that of the server it starts. */
const FEWEST_OPEN_FILES = 1024;

const run = promisify(execFile);

const node: DoctorProbe = {
  name: 'Node.js',
  async probe() {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
    const isNewEnough = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
    return judge(
      isNewEnough,
      'missing',
      process.versions.node,
      `install ${OLDEST_NODE.join('.')} or newer: nvm install 20`,
    );
  },
};

const redisServer: DoctorProbe = {
  name: 'redis-server',
  async probe() {
    try {
      const path = await findServer();
      const { stdout } = await run(path, ['--version']);
      const version = /v=([\d.]+)/.exec(stdout)?.[1] ?? stdout.trim();
      return { state: 'ok', found: `${version} (${path})` };
    } catch (error) {
      const found = error instanceof WeirError ? error.message : `it cannot be run: ${String(error)}`;
      return { state: 'missing', found, mend: installCommand() };
    }
  },
};

const sqlite: DoctorProbe = {
  name: 'better-sqlite3',
  async probe() {
    try {
      const { default: Database } = await import('better-sqlite3');
      const database = new Database(':memory:');
      const row = database.prepare('select sqlite_version() as version').get();
      database.close();
      const known = typeof row === 'object' && row !== null && 'version' in row;
      return { state: 'ok', found: `SQLite ${known ? String(row.version) : 'of unknown version'}` };
    } catch (error) {
      const found = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
      return { state: 'missing', found, mend: 'npm rebuild better-sqlite3 --foreground-scripts' };
    }
  },
};

const cores: DoctorProbe = {
  name: 'cores',
  async probe() {
    const count = availableParallelism();
    return judge(count >= FEWEST_CORES, 'low', String(count), `use a machine with at least ${FEWEST_CORES}`);
  },
};

const memory: DoctorProbe = {
  name: 'free memory',
  async probe() {
    const free = freemem();
    const mend = `end other programs: ${formatBytes(LEAST_MEMORY_BYTES)} should be free`;
    return judge(free >= LEAST_MEMORY_BYTES, 'low', formatBytes(free), mend);
  },
};

/** Servers, stores and their files live in the temporary folder during a run. */
const disk: DoctorProbe = {
  name: 'free disk',
  async probe() {
    const folder = tmpdir();
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    const mend = `free ${formatBytes(LEAST_DISK_BYTES)} there, or set TMPDIR to another disk`;
    return judge(free >= LEAST_DISK_BYTES, 'low', `${formatBytes(free)} in ${folder}`, mend);
  },
};

const openFiles: DoctorProbe = {
  name: 'open files',
  async probe() {
    const { stdout } = await run('/bin/sh', ['-c', 'ulimit -n']);
    const limit = stdout.trim();
    const isEnough = limit === 'unlimited' || Number(limit) >= FEWEST_OPEN_FILES;
    return judge(isEnough, 'low', limit, 'ulimit -n 65536');
  },
};

/** In the order they are shown: what weir cannot do without comes first. */
export const DOCTOR_PROBES: readonly DoctorProbe[] = [
  node,
  redisServer,
  sqlite,
  cores,
  memory,
  disk,
  openFiles,
];

function judge(isGood: boolean, otherwise: 'low' | 'missing', found: string, mend: string): ProbeReport {
  return isGood ? { state: 'ok', found } : { state: otherwise, found, mend };
}
