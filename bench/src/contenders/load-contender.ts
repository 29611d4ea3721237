import type { Contender } from './contender.js';
import { weir } from './weir.js';

/** Loaded one at a time: a process that measures one contender shall not carry the others in its memory. */
const CONTENDERS = {
  'weir-queue': async () => weir((await import('@weir/patterns/messaging/queue')).queue),
  'weir-stream-xread': async () => weir((await import('@weir/patterns/messaging/stream-xread')).streamXread),
  'weir-stream-group': async () => weir((await import('@weir/patterns/messaging/stream-group')).streamGroup),
  'weir-reliable-queue': async () =>
    weir((await import('@weir/patterns/messaging/reliable-queue')).reliableQueue),
  'weir-pubsub': async () => weir((await import('@weir/patterns/messaging/pubsub')).pubsub),
  'bare-list': async () => (await import('./bare-client.js')).bareList,
  'bare-reliable-list': async () => (await import('./bare-client.js')).bareReliableList,
  'bare-stream': async () => (await import('./bare-client.js')).bareStream,
  'bare-channel': async () => (await import('./bare-client.js')).bareChannel,
  bullmq: async () => (await import('./bullmq.js')).bullmq,
  'bee-queue': async () => (await import('./bee-queue.js')).beeQueue,
} satisfies Record<string, () => Promise<Contender>>;

export type ContenderName = keyof typeof CONTENDERS;

export function loadContender(name: ContenderName): Promise<Contender> {
  return CONTENDERS[name]();
}
