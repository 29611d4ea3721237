import type { MessagingPattern } from '../pattern.js';
import { check, consumerSettings, keySettings } from './options.js';
import { createProducer, type Medium } from './producer.js';
import { type ChannelKind, PubsubConsumer } from './pubsub-consumer.js';

/** What a pattern on a channel does the same way, whichever commands publish and subscribe. */
export function onChannel(
  medium: Medium & { readonly type: 'channel' },
  kind: ChannelKind,
): Pick<MessagingPattern, 'createProducer' | 'createConsumer' | 'inspect' | 'destroy'> {
  return {
    createProducer(client, options) {
      const { maxLength } = options ?? {};
      check('maxLength', maxLength, maxLength === undefined, 'left out: a channel keeps nothing');
      return createProducer(client, medium, options);
    },
    createConsumer(client, options) {
      const { from } = options ?? {};
      check('from', from, from !== 'beginning', '"new": a channel keeps nothing');
      return new PubsubConsumer(client, consumerSettings(options, medium.defaultKey), kind);
    },
    async inspect(_client, options) {
      keySettings(options, medium.defaultKey);
      return { keys: [], unread: 0, pending: 0, deadLettered: 0, length: 0 };
    },
    async destroy(_client, options) {
      keySettings(options, medium.defaultKey);
    },
  };
}
