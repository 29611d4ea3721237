import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WeirError } from './errors.js';

/**
 * Makes a folder for one piece of work and removes it afterwards, however that ends.
 * @throws {WeirError} CANNOT_WRITE when none can be made; and whatever `work` throws
 */
export async function withTemporaryFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await makeFolder();
  // A process that is ended in the middle (second Ctrl-C, a crash) gets to its exit event and no further.
  const onExit = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', onExit);
  try {
    return await work(folder);
  } finally {
    process.off('exit', onExit);
    await rm(folder, { recursive: true, force: true });
  }
}

async function makeFolder(): Promise<string> {
  try {
    return await mkdtemp(join(tmpdir(), 'weir-'));
  } catch (cause) {
    throw new WeirError('CANNOT_WRITE', `no folder can be made in ${tmpdir()}`, {
      cause,
      remedy: 'make it writable, or set TMPDIR to another folder',
    });
  }
}
