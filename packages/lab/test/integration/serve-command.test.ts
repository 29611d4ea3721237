import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually, isRunning } from '../support/condition.js';
import { ask, sandbox as folderOf, serve } from '../support/service-process.js';
import { makeSandbox, type Sandbox } from '../support/weir-process.js';

/** `weir serve` as it is typed. */

describe('without --redis', () => {
  it('two services that start at once meet at one Redis for trying out, and leave nothing behind', async () => {
    const folder = folderOf();
    const note = join(folder, '.weir', 'serve-redis.json');
    const [producer, consumer] = await Promise.all([
      serve(['producer'], folder),
      serve(['consumer'], folder),
    ]);
    expect(producer.output() + consumer.output()).toMatch(/FOR TRYING OUT.*which ends with this process/);
    expect(producer.output() + consumer.output()).toMatch(
      /FOR TRYING OUT.*which another weir serve started here/,
    );

    await ask('POST', `${consumer.url}/queue/start`);
    for (const body of ['a', 'b', 'c']) await ask('POST', `${producer.url}/queue/send`, body);
    expect((await ask('POST', `${consumer.url}/queue/stop`)).json()).toMatchObject({
      totalMessages: 3,
      stored: 3,
    });

    for (const service of [producer, consumer]) service.kill('SIGTERM');
    for (const service of [producer, consumer])
      expect(await service.ended).toEqual({ code: 0, signal: null });
    expect(existsSync(note)).toBe(false);
  });

  it('a note of a process that is gone is thrown away', async () => {
    const folder = folderOf();
    let gone = 4_000_000;
    while (await isRunning(gone)) gone--;
    await mkdir(join(folder, '.weir'));
    const note = { pid: gone, url: 'redis://127.0.0.1:1' };
    await writeFile(join(folder, '.weir', 'serve-redis.json'), JSON.stringify(note));
    const producer = await serve(['producer'], folder);
    expect((await ask('POST', `${producer.url}/queue/send`)).text).toBe('ok');
  });

  it('the Redis ends with a service that is killed', async () => {
    const folder = folderOf();
    const producer = await serve(['producer'], folder);
    const port = /trying out at redis:\/\/127\.0\.0\.1:(\d+)/i.exec(producer.output())?.[1];
    producer.kill('SIGKILL');
    await producer.ended;
    await eventually('the port is free', () =>
      fetch(`http://127.0.0.1:${port}`).then(
        () => false,
        (error: unknown) => String(error instanceof Error ? error.cause : error).includes('ECONNREFUSED'),
      ),
    );
  });
});

describe('refuses', () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await makeSandbox();
  });
  afterEach(() => sandbox.remove());

  it.each([
    [['nope'], 64, /"nope"[\s\S]*producer, consumer/],
    [['producer', '--host', '0.0.0.0'], 64, /--host.*--token/],
    [['producer', '--port', '70000'], 64, /--port is "70000"/],
    [['producer', '--body-limit', '0'], 64, /--body-limit is "0"/],
    [['producer', '--rate-limit', '-1'], 64, /--rate-limit/],
    [['producer', '--client', 'nope'], 64, /no client "nope"/],
    [['producer', '--redis', 'http://u:secret@x'], 64, /--redis/],
    [['producer', '--redis', 'redis://u:secret@127.0.0.1:1'], 69, /127\.0\.0\.1:1/],
    [['consumer', '--store', 'mongodb://u:secret@x/y'], 64, /no store "mongodb"/],
    [['consumer', '--store', 'mysql://u:secret@x'], 64, /--store/],
    [['consumer', '--store', 'postgres://u:secret@127.0.0.1:1/x'], 69, /127\.0\.0\.1:1\/x/],
    [['consumer', '--offset', 'disk'], 64, /--offset.*memory, redis, store/],
    [['consumer', '--offset', 'store', '--store', 'none'], 64, /--offset is "store".*redis or memory/],
  ])('%j with %i', async (words, exitCode, message) => {
    const { code, stdout, stderr } = await sandbox.run(['serve', ...words]);
    expect({ code, stdout }, stderr).toEqual({ code: exitCode, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('secret');
    expect(await sandbox.leftovers()).toEqual([]);
  });
});
