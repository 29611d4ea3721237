import { type ChildProcess, fork } from 'node:child_process';
import { WeirError } from '../core/errors.js';
import type { FromWorker, ToWorker, WorkerFailure } from '../workers/worker-channel.js';
import type { Fleet, Worker, WorkerSpecification } from './fleet.js';

/** How long a worker may take to load, and to end after being asked to. */
const START_DEADLINE_MS = 30_000;
const STOP_GRACE_MS = 2_000;
/** What a worker printed is kept for the error message, up to this many characters. */
const KEPT_OUTPUT = 4_000;

/**
 * Runs workers as processes of this machine, one each (`child_process.fork`, structured-clone serialisation so that
 * byte arrays travel as they are).
 */
export function localFleet(): Fleet {
  const workers = new Set<LocalWorker>();
  return {
    name: 'local',
    async start(specification) {
      const worker = new LocalWorker(specification);
      workers.add(worker);
      void worker.exited.then(() => workers.delete(worker));
      await worker.ready();
      return worker;
    },
    async close() {
      await Promise.all([...workers].map((worker) => worker.stop()));
    },
  };
}

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

class LocalWorker implements Worker {
  readonly role: string;
  readonly index: number;
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string, Set<(data: unknown) => void>>();
  readonly #isReady: Promise<void>;
  #nextCall = 0;
  #output = '';
  #ended = false;

  constructor({ module, role, index }: WorkerSpecification) {
    this.role = role;
    this.index = index;
    this.#child = fork(new URL(`../workers/${module}.js`, import.meta.url), [], {
      serialization: 'advanced',
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-KEPT_OUTPUT);
      });
    }
    this.exited = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        this.#ended = true;
        resolve({ code, signal });
      });
    });
    this.#isReady = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(this.#failed('did not start in time')), START_DEADLINE_MS);
      this.#listeners.set('ready', new Set([() => resolve(clearTimeout(timer))]));
      void this.exited.then(({ code, signal }) => {
        clearTimeout(timer);
        const error = this.#failed(`ended (${signal ?? `exit code ${code}`})`);
        reject(error);
        for (const waiting of this.#waiting.values()) waiting.reject(error);
        this.#waiting.clear();
      });
    });
    // A worker that nobody waits for yet may end: its callers learn of it through `call`.
    this.#isReady.catch(() => {});
    this.#child.on('error', () => {});
    this.#child.on('message', (message) => this.#receive(message as FromWorker));
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  ready(): Promise<void> {
    return this.#isReady;
  }

  async call(name: string, parameters?: unknown): Promise<unknown> {
    if (this.#ended) throw this.#failed(`has ended and cannot ${name}`);
    const id = this.#nextCall++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#post({ type: 'call', id, name, parameters });
    });
  }

  tell(name: string, parameters?: unknown): void {
    if (!this.#ended) this.#post({ type: 'tell', name, parameters });
  }

  on(name: string, listener: (data: unknown) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(signal);
  }

  async stop(): Promise<void> {
    if (this.#ended) return;
    this.#post({ type: 'stop' });
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_GRACE_MS);
    await this.exited;
    clearTimeout(timer);
  }

  #post(message: ToWorker): void {
    // The callback takes the error of a channel that closed meanwhile; `exited` tells the callers.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  #receive(message: FromWorker): void {
    switch (message.type) {
      case 'ready':
        this.#notify('ready', undefined);
        return;
      case 'event':
        this.#notify(message.name, message.data);
        return;
      case 'answer':
        this.#settle(message.id)?.resolve(message.value);
        return;
      case 'failure':
        this.#settle(message.id)?.reject(this.#failure(message.error));
    }
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    return waiting;
  }

  #notify(name: string, data: unknown): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(data);
  }

  #failure({ name, message, code, stack }: WorkerFailure): WeirError {
    const cause = Object.assign(new Error(message), { name, code, stack });
    return new WeirError('WORKER_FAILED', `${this.role} ${this.index}: ${message}`, { cause });
  }

  #failed(what: string): WeirError {
    const said = this.#output.trim();
    return new WeirError(
      'WORKER_FAILED',
      `${this.role} ${this.index} (process ${this.pid}) ${what}${said ? `: ${said}` : ''}`,
    );
  }
}
