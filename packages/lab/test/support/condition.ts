import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Waits until a condition holds, asking again and again: tests never sleep for a guessed time.
 * @throws Error naming `what` when the deadline passes
 */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  deadlineMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + deadlineMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${what}: not within ${deadlineMs} ms`);
    await delay(10);
  }
}

/** Whether a process exists. A zombie nobody has waited for counts as gone where /proc can tell. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat === undefined ? process.platform !== 'linux' : !/^\d+ \(.*\) Z/.test(stat);
}
