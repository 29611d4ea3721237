import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { waitFor } from './wait-for.js';

/** A real redis-server on a free loopback port, in a temporary folder that goes away with it. */
export class TestRedis {
  readonly port: number;
  readonly #folder: string;
  readonly #options: readonly string[];
  #process: ChildProcess | undefined;

  private constructor(port: number, folder: string, options: readonly string[]) {
    this.port = port;
    this.#folder = folder;
    this.#options = options;
  }

  /** @param options of redis-server: `'--appendonly', 'yes'`. By default nothing is persisted. */
  static async start(...options: string[]): Promise<TestRedis> {
    const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
    const redis = new TestRedis(await freePort(), folder, options);
    await redis.run();
    return redis;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async run(): Promise<void> {
    const args = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#folder, '--save', ''];
    const child = spawn('redis-server', [...args, '--appendonly', 'no', ...this.#options], {
      stdio: 'ignore',
    });
    this.#process = child;
    await waitFor(() => answersPing(this.port), 'redis-server to answer PING');
  }

  /** Ends the process without a chance to save or to say goodbye. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Freezes the process: connections stay open and nothing is answered. */
  freeze(): void {
    this.#process?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#process?.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    this.thaw();
    await this.#end('SIGTERM');
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (yes: boolean): void => {
      socket.destroy();
      resolve(yes);
    };
    socket.once('error', () => answer(false));
    socket.once('data', (data) => answer(data.toString().startsWith('+PONG')));
    socket.write('PING\r\n');
  });
}
