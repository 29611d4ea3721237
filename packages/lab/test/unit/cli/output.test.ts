import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openOutput } from '../../../src/cli/output.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-output-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Root may write anything; file permissions are tested as somebody who may not. */
async function asNobody(work: () => Promise<void>): Promise<void> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) process.seteuid?.(65534);
  try {
    await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
}

describe('a file to write to', () => {
  it('holds the document and nothing else is left in its folder', async () => {
    const output = await openOutput(join(folder, 'r.json'));
    await output.write('{}\n');
    await output.discard();
    expect(await readFile(join(folder, 'r.json'), 'utf8')).toBe('{}\n');
    expect(await readdir(folder)).toEqual(['r.json']);
  });

  it('keeps its old content until the new one is complete, and for good when the run is given up', async () => {
    const file = join(folder, 'r.json');
    await writeFile(file, 'old');
    const output = await openOutput(file);
    expect(await readFile(file, 'utf8')).toBe('old');
    await output.discard();
    expect(await readFile(file, 'utf8')).toBe('old');
    expect(await readdir(folder)).toEqual(['r.json']);
  });

  it('is replaced where a link points to, and the link stays', async () => {
    await writeFile(join(folder, 'real'), 'old');
    await symlink(join(folder, 'real'), join(folder, 'link'));
    await (await openOutput(join(folder, 'link'))).write('new');
    expect(await readFile(join(folder, 'real'), 'utf8')).toBe('new');
  });

  it('is refused before the run: in a folder that does not exist, or a folder itself', async () => {
    await mkdir(join(folder, 'sub'));
    for (const file of [join(folder, 'nowhere', 'r.json'), join(folder, 'sub')]) {
      await expect(openOutput(file)).rejects.toMatchObject({
        code: 'CANNOT_WRITE',
        exitCode: 73,
        message: expect.stringContaining(`cannot write ${file}: `),
      });
    }
    expect(await readdir(folder)).toEqual(['sub']);
  });

  it('is refused before the run on a full disk', async () => {
    await expect(openOutput('/dev/full')).rejects.toThrow('ENOSPC');
  });

  it('is written through when it is a device', async () => {
    const output = await openOutput('/dev/null');
    await output.write('gone');
    await output.discard();
  });

  it('is refused before the run when it is read-only, and in a read-only folder', async () => {
    const file = join(folder, 'r.json');
    await writeFile(file, 'old');
    await chmod(file, 0o444);
    await chmod(folder, 0o777);
    await asNobody(() => expect(openOutput(file)).rejects.toThrow('EACCES'));
    await chmod(file, 0o666);
    await chmod(folder, 0o555);
    await asNobody(() => expect(openOutput(file)).rejects.toThrow('EACCES'));
    expect(await readdir(folder)).toEqual(['r.json']);
  });
});
