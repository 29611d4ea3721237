import { vi } from 'vitest';
import { printError } from '../../src/cli/errors.js';
import { createProgram } from '../../src/cli/program.js';

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `weir` with these words, in this process: as `main.ts` does it, and without the time a new process takes. */
export async function weir(line: string): Promise<Outcome> {
  const written = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    vi.spyOn(process[name], 'write').mockImplementation((chunk, ...rest) => {
      written[name] += String(chunk);
      for (const argument of rest) if (typeof argument === 'function') argument();
      return true;
    });
  }
  const exitCodeBefore = process.exitCode;
  process.exitCode = 0;
  try {
    await createProgram().parseAsync(line.split(' ').filter(Boolean), { from: 'user' });
  } catch (error) {
    process.exitCode = printError(error);
  } finally {
    vi.restoreAllMocks();
  }
  const code = Number(process.exitCode);
  process.exitCode = exitCodeBefore;
  return { code, ...written };
}
