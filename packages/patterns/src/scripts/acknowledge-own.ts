import { OWN_ENTRIES } from './own-entries.js';

export const ACKNOWLEDGE_OWN = `
-- Acknowledges entries, but only those that are still pending for this consumer: the fenced XACK.
--
-- KEYS[1] stream     KEYS[2] recorded attempts of the group
-- ARGV[1] group      ARGV[2] consumer      ARGV[3...] entry ids, at most 1000
--
-- Returns two lists of those that were left alone: pending for another consumer, not pending at all.
${OWN_ENTRIES}
local own, others, gone = sorted(3, 1)
if #own > 0 then
  redis.call('XACK', KEYS[1], ARGV[1], unpack(own))
  redis.call('HDEL', KEYS[2], unpack(own))
end
return { others, gone }
`;
