/**
 * Where the workers of a trial run. `local-fleet.ts` starts them as processes of this machine; others may start
 * them elsewhere, so nothing here assumes a shared disk, memory or clock. Everything said to a worker is data
 * that survives structured cloning.
 */
export interface Fleet {
  readonly name: string;
  /**
   * Starts one worker process and resolves when it answers.
   * @throws {WeirError} WORKER_FAILED with what the worker printed
   */
  start(worker: WorkerSpecification): Promise<Worker>;
  /** Ends every worker that still runs, the hard way if need be. Idempotent. */
  close(): Promise<void>;
}

export interface WorkerSpecification {
  /** Module in `workers/` without extension: `messaging-producer`. */
  readonly module: string;
  /** What it is in the report: `producer`, `consumer`. */
  readonly role: string;
  /** Several of a role are counted from 0. */
  readonly index: number;
}

export interface Worker {
  readonly role: string;
  readonly index: number;
  /** Process id on its machine. */
  readonly pid: number;
  /**
   * Asks the worker to do one thing and waits for its answer. Which names and shapes there are is declared by
   * the worker's module.
   * @throws {WeirError} WORKER_FAILED when it threw or ended
   */
  call(name: string, parameters?: unknown): Promise<unknown>;
  /** Tells without waiting. */
  tell(name: string, parameters?: unknown): void;
  /** Calls `listener` for each event of that name the worker emits. Returns a function that stops it. */
  on(name: string, listener: (data: unknown) => void): () => void;
  kill(signal: 'SIGKILL' | 'SIGTERM' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Asks it to end and waits; SIGKILL after a grace period. */
  stop(): Promise<void>;
  readonly exited: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}
