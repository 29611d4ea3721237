import { type TypedWorker, typedWorker } from '../../fleet/typed-worker.js';
import type { MessagingProducerApi, ProducerReport, ProducerSettings } from '../../workers/messaging-api.js';
import type { TrialContext } from '../experiment.js';
import type { FaultsOptions } from './options.js';

/** Tails are short and sent fast: only whether they come through matters. */
const TAIL_PER_SECOND = 1000;

/** What one send of a tail came to. */
export interface Tail {
  readonly producerId: string;
  readonly acknowledged: number;
}

/** The producer of a trial with a fault. It goes on sending whatever happens, and knows what became of each send. */
export class Sender {
  /** Of the load: the messages that meet the fault. */
  readonly producerId: string;
  readonly #worker: TypedWorker<MessagingProducerApi>;
  readonly #nonce: string;
  #tails = 0;

  /** @param nonce sets its messages apart from those of all other trials */
  static async start(
    settings: ProducerSettings,
    nonce: string,
    { fleet }: Pick<TrialContext, 'fleet'>,
  ): Promise<Sender> {
    const worker = await fleet.start({ module: 'messaging-producer', role: 'producer', index: 0 });
    const sender = new Sender(typedWorker<MessagingProducerApi>(worker), nonce);
    try {
      await worker.call('prepare', settings);
    } catch (error) {
      await sender.stop();
      throw error;
    }
    return sender;
  }

  private constructor(worker: TypedWorker<MessagingProducerApi>, nonce: string) {
    this.#worker = worker;
    this.#nonce = nonce;
    this.producerId = `${nonce}p`;
  }

  /** Messages at their times, one by one; or all in two pipelines, as fast as they go. */
  load(shape: 'paced' | 'pipelines', { messages, perSecond }: FaultsOptions): Promise<ProducerReport> {
    const load = { producerId: this.producerId, until: { messages } };
    return this.#worker.call(
      'run',
      shape === 'pipelines'
        ? { ...load, mode: 'closed', inFlight: messages }
        : { ...load, mode: 'open', perSecond },
    );
  }

  /** Messages that meet no fault any more, under an id of their own. */
  async tail(messages: number): Promise<Tail> {
    const producerId = `${this.#nonce}t${this.#tails++}`;
    const { acknowledged } = await this.#worker.call('run', {
      producerId,
      mode: 'open',
      perSecond: TAIL_PER_SECOND,
      until: { messages },
    });
    return { producerId, acknowledged };
  }

  async stop(): Promise<void> {
    await this.#worker.worker.stop();
  }
}
