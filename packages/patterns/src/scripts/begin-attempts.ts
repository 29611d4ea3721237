import { OWN_ENTRIES } from './own-entries.js';

export const BEGIN_ATTEMPTS = `
-- Puts on record that another attempt at entries begins, and renews their lease; only of those that are still pending
-- for this consumer.
--
-- The lease comes first also because of a full Redis (maxmemory): it refuses HINCRBY as the first write of a script
-- and allows it after another one, and a consumer must be able to work off what is there when memory is full.
--
-- KEYS[1] stream     KEYS[2] recorded attempts of the group, a hash of entry id to number
-- ARGV[1] group      ARGV[2] consumer      ARGV[3] seconds the records are kept      ARGV[4...] ids, at most 1000
--
-- Returns the ids of those that are not pending for this consumer any more.
${OWN_ENTRIES}
local own, lost, gone = sorted(4, 1)
for _, id in ipairs(own) do
  redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, id, 'JUSTID')
  redis.call('HINCRBY', KEYS[2], id, 1)
end
redis.call('EXPIRE', KEYS[2], ARGV[3])
for _, id in ipairs(gone) do
  lost[#lost + 1] = id
end
return lost
`;
