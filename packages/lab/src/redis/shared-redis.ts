import { mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WeirError } from '../core/errors.js';
import { redact } from './address.js';
import { probe } from './probe.js';
import { startRedisServer } from './redis-server.js';

/** A Redis for trying out, shared by the services that were started in the same folder. */
export interface SharedRedis {
  readonly url: string;
  readonly address: string;
  /** Whether this process started it; it then ends with this process. */
  readonly isOurs: boolean;
  close(): Promise<void>;
}

interface Note {
  /** Process that starts, or has started, the Redis. */
  readonly pid: number;
  /** Missing while it starts. */
  readonly url?: string;
}

const POLL_MS = 50;
const PROBE_DEADLINE_MS = 1_000;
const DEADLINE_MS = 15_000;

/**
 * Finds the Redis that another service noted down in `file`, or starts one and notes it down, so that
 * `weir serve producer` and `weir serve consumer` meet without being told where. Whoever creates the file starts the
 * Redis; the note of a process that is gone is thrown away.
 *
 * @throws {WeirError} REDIS_MISSING, REDIS_GONE, REDIS_UNREACHABLE or CANNOT_WRITE
 */
export async function openSharedRedis(file: string): Promise<SharedRedis> {
  const deadline = performance.now() + DEADLINE_MS;
  await orCannotWrite(file, mkdir(dirname(file), { recursive: true }));
  while (performance.now() < deadline) {
    if (await claim(file)) return startAndNote(file);
    const note = await readNote(file);
    if (note !== undefined && !isAlive(note.pid)) await rm(file, { force: true });
    else if (note?.url !== undefined && (await probe(note.url, PROBE_DEADLINE_MS)).state === 'ready') {
      return { url: note.url, address: redact(note.url), isOurs: false, close: async () => undefined };
    } else await delay(POLL_MS);
  }
  throw new WeirError('REDIS_UNREACHABLE', `the Redis noted down in ${file} does not answer`, {
    remedy: `remove ${file}, or name your own Redis with --redis`,
  });
}

/** Creating a file that must not exist is what one process of several can do. */
async function claim(file: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx');
    await handle.writeFile(JSON.stringify({ pid: process.pid } satisfies Note));
    await handle.close();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    return orCannotWrite(file, Promise.reject(error));
  }
}

async function startAndNote(file: string): Promise<SharedRedis> {
  try {
    const server = await startRedisServer();
    // Replaced as a whole: nobody reads half a note.
    await writeFile(`${file}.tmp`, JSON.stringify({ pid: process.pid, url: server.url } satisfies Note));
    await rename(`${file}.tmp`, file);
    return {
      url: server.url,
      address: redact(server.url),
      isOurs: true,
      close: async () => {
        await rm(file, { force: true });
        await server.stop();
      },
    };
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

/** `undefined` while another process writes it, or after it has removed it. */
async function readNote(file: string): Promise<Note | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it is there and belongs to somebody else.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

async function orCannotWrite<T>(file: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new WeirError('CANNOT_WRITE', `cannot write ${file}`, {
      cause,
      remedy: 'start it in a folder you may write to, or name your own Redis with --redis',
    });
  }
}
