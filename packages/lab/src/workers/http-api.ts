import type { Resources } from '../measure/result.js';
import type { ClientLibrary } from '../redis/clients.js';
import type { ConsumerSettings } from './messaging-api.js';
import type { WorkerApi } from './worker-channel.js';

/** What the workers of a messaging trial over HTTP need beyond those of `messaging-api.ts`. */

/** The producer service, in a process of its own. */
export interface ProducerServiceApi extends WorkerApi {
  /** Connects and listens. Called once, first. */
  readonly prepare: (settings: ProducerServiceSettings) => Promise<void>;
  /** Where it listens. */
  readonly address: (parameters: undefined) => string;
  readonly beginWindow: (parameters: undefined) => void;
  readonly endWindow: (parameters: undefined) => Resources;
  readonly close: (parameters: undefined) => Promise<void>;
}

export interface ProducerServiceSettings {
  readonly client: ClientLibrary;
  readonly url: string;
  readonly keyPrefix: string;
  readonly bodyLimitBytes: number;
}

/** The sender: posts to producer services in turn. */
export interface HttpSenderSettings {
  readonly pattern: string;
  readonly services: readonly string[];
  readonly payloadBytes: number;
  /** Messages in one request: 1 goes to `/send`, more to `/send/batch`. */
  readonly bulk: number;
  /** Keep-alive connections, each with one request at a time. */
  readonly connections: number;
}

/** A consumer service of this trial, in the worker's own process. */
export type HttpConsumerSettings = Omit<ConsumerSettings, 'key'> & { readonly keyPrefix: string };

/** A consumer service that somebody else runs. */
export type RemoteConsumerSettings = Pick<ConsumerSettings, 'pattern' | 'batch'> & {
  readonly service: string;
};
