import type { WorkerApi } from '../workers/worker-channel.js';
import type { Worker } from './fleet.js';

/** A worker whose functions are known by type. `Api` is what its module in `workers/` declares. */
export interface TypedWorker<Api extends WorkerApi> {
  readonly worker: Worker;
  call<Name extends keyof Api & string>(
    name: Name,
    parameters: Parameters<Api[Name]>[0],
  ): Promise<Awaited<ReturnType<Api[Name]>>>;
  tell<Name extends keyof Api & string>(name: Name, parameters: Parameters<Api[Name]>[0]): void;
}

/**
 * Gives a worker the types of its module. Both ends are built from the same source in the same package, which is
 * why the answer is trusted to have the declared type.
 */
export function typedWorker<Api extends WorkerApi>(worker: Worker): TypedWorker<Api> {
  return {
    worker,
    async call(name, parameters) {
      return (await worker.call(name, parameters)) as never;
    },
    tell(name, parameters) {
      worker.tell(name, parameters);
    },
  };
}
