import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const WEIR = new URL('../../bin/weir.js', import.meta.url).pathname;
const LONGEST_WAIT_MS = 120_000;

/** `weir` as a user runs it: a process of its own, in an empty folder, with a folder for temporary files. */
export interface Sandbox {
  readonly folder: string;
  /** Starts weir with these words. */
  start(words: readonly string[], environment?: NodeJS.ProcessEnv): WeirProcess;
  /** Starts it and waits for its end. */
  run(words: readonly string[], environment?: NodeJS.ProcessEnv): Promise<Ended>;
  /** What is left behind: temporary files, and processes that live in the folder for them. */
  leftovers(): Promise<string[]>;
  remove(): Promise<void>;
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface WeirProcess {
  readonly ended: Promise<Ended>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves once stderr holds the pattern. */
  says(pattern: RegExp): Promise<void>;
}

export async function makeSandbox(): Promise<Sandbox> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-sandbox-'));
  const temporary = join(folder, 'tmp');
  await mkdir(temporary);
  const start = (words: readonly string[], environment: NodeJS.ProcessEnv = {}): WeirProcess => {
    const child = spawn(process.execPath, [WEIR, ...words], {
      cwd: folder,
      env: { ...process.env, TMPDIR: temporary, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const ended = new Promise<Ended>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
    return {
      ended,
      kill: (signal) => void child.kill(signal),
      says: (pattern) =>
        until(`stderr matches ${pattern}; it is: ${stderr}`, async () => pattern.test(stderr)),
    };
  };
  return {
    folder,
    start,
    run: (words, environment) => start(words, environment).ended,
    leftovers: async () => [...(await readdir(temporary)), ...(await processesIn(temporary))],
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Waits for a condition, and fails naming it. */
export async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LONGEST_WAIT_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`never came true: ${what}`);
    await delay(20);
  }
}

/** Processes whose working directory lies in a folder (Linux). */
async function processesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    if (workingDirectory.startsWith(folder)) found.push(`process ${pid} in ${workingDirectory}`);
  }
  return found;
}
