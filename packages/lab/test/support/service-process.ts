import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { eventually } from './condition.js';

const WEIR = new URL('../../bin/weir.js', import.meta.url).pathname;

/** `weir serve` as a user runs it: a process of its own on a free port, ended with the test. */
export interface ServiceProcess {
  readonly url: string;
  readonly pid: number;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** All it has written so far, to stdout and stderr. */
  output(): string;
}

/** @param words what follows `weir serve` */
export async function serve(words: readonly string[], folder = sandbox()): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [WEIR, 'serve', ...words, '--port', '0'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const listening = /^weir: listening on (\S+);/m;
  await eventually(
    `weir serve ${words[0]} listens`,
    () => {
      if (child.exitCode !== null) throw new Error(`weir serve ended with ${child.exitCode}: ${output}`);
      return listening.test(output);
    },
    60_000,
  );
  return {
    url: listening.exec(output)?.[1] ?? '',
    pid: child.pid ?? -1,
    kill: (signal) => void child.kill(signal),
    ended,
    output: () => output,
  };
}

/** An empty folder, removed with the test. */
export function sandbox(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-serve-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The text as JSON. */
  json(): Record<string, unknown>;
}

/** One request, whatever it is answered. */
export async function ask(
  method: 'GET' | 'POST',
  url: string,
  body?: NonNullable<RequestInit['body']>,
  type?: string,
): Promise<Answer> {
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
}
