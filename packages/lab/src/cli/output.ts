import { constants, rmSync, writeSync } from 'node:fs';
import { type FileHandle, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { usageError, WeirError } from '../core/errors.js';

/** Where a document goes: stdout, or a file that was tested before the work began. */
export interface Output {
  write(document: string): Promise<void>;
  /** Removes what was prepared, when nothing will be written. After `write` it does nothing. */
  discard(): Promise<void>;
}

/**
 * Opens stdout (no file given) or a file. A file is replaced in one step at the end, so that nobody ever reads half
 * a document and an interrupted run leaves the old one in place.
 * @throws {WeirError} CANNOT_WRITE naming the file and the reason, before any work is done
 */
export async function openOutput(file: string | undefined): Promise<Output> {
  if (file === undefined) return { write: writeToStdout, discard: async () => {} };
  if (file === '') throw usageError('--out', file, 'the name of a file');
  try {
    const target = await realpath(file).catch(() => resolve(file));
    const existing = await stat(target).catch(() => undefined);
    return existing === undefined || existing.isFile() || existing.isDirectory()
      ? await replaceFile(target, existing?.isDirectory() ?? false)
      : await writeToDevice(target);
  } catch (cause) {
    throw cannotWrite(file, cause);
  }
}

/** Room that is taken on the disk beforehand: a full one is found out now and not after ten minutes of trials. */
const RESERVED_BYTES = 1024 * 1024;

async function replaceFile(target: string, isDirectory: boolean): Promise<Output> {
  if (isDirectory) throw new Error('it is a folder');
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.tmp`);
  const handle = await open(temporary, 'wx');
  // A process that is ended in the middle gets to its exit event and no further.
  const onExit = () => rmSync(temporary, { force: true });
  process.once('exit', onExit);
  let isOpen = true;
  const close = async () => {
    isOpen = false;
    process.off('exit', onExit);
    await handle.close();
  };
  const discard = async () => {
    if (!isOpen) return;
    await close();
    await rm(temporary, { force: true });
  };
  try {
    await assertWritable(target);
    await handle.writeFile(Buffer.alloc(RESERVED_BYTES));
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    async write(document) {
      try {
        await replaceContent(handle, document);
        await rename(temporary, target);
        await close();
      } catch (cause) {
        throw cannotWrite(target, cause);
      }
    },
    discard,
  };
}

/** A file that is there and read-only stays: replacing it would get round its owner's wish. */
async function assertWritable(target: string): Promise<void> {
  const handle = await open(target, constants.O_WRONLY).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  await handle?.close();
}

async function replaceContent(handle: FileHandle, document: string): Promise<void> {
  await handle.truncate(0);
  await handle.write(document, 0);
  await handle.sync();
}

/** Devices and pipes cannot be replaced. Writing nothing shows whether one takes anything (/dev/full does not). */
async function writeToDevice(target: string): Promise<Output> {
  const handle = await open(target, constants.O_WRONLY);
  let isOpen = true;
  const discard = async () => {
    if (isOpen) await handle.close();
    isOpen = false;
  };
  try {
    // Synchronous: the promise API answers an empty write itself, without asking the system.
    writeSync(handle.fd, Buffer.alloc(0));
  } catch (error) {
    await discard();
    throw error;
  }
  return {
    async write(document) {
      try {
        await handle.writeFile(document);
      } catch (cause) {
        throw cannotWrite(target, cause);
      }
    },
    discard,
  };
}

function cannotWrite(file: string, cause: unknown): WeirError {
  // `ENOENT: no such file or directory, open '...'`: what follows the comma names a file the user never chose.
  const reason = cause instanceof Error ? cause.message.split(', ', 1)[0] : String(cause);
  return new WeirError('CANNOT_WRITE', `cannot write ${file}: ${reason}`, {
    cause,
    remedy: 'name a file in a folder you may write to, on a disk that is not full',
  });
}

/** Resolves once the text has left the process, so that a pipe gets all of it. */
export function writeToStdout(text: string): Promise<void> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve()));
}

/** `weir report | head -1` closes the pipe early: that is its right, not an error. */
export function surviveClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error) => {
      if (!('code' in error) || error.code !== 'EPIPE') throw error;
    });
  }
}

/** Colour where a person looks at it, unless they asked for none (https://no-color.org). */
export function wantsColor(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
}
