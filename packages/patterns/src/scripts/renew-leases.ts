import { OWN_ENTRIES } from './own-entries.js';

export const RENEW_LEASES = `
-- Sets the idle time of entries back to 0, but only of those that are still pending for this consumer: an XCLAIM
-- alone would take back what another one has taken over.
--
-- KEYS[1] stream
-- ARGV[1] group      ARGV[2] consumer      ARGV[3...] entry ids, at most 1000
--
-- Returns the ids of those that are not pending for this consumer any more.
${OWN_ENTRIES}
local own, lost, gone = sorted(3, 1)
if #own > 0 then
  own[#own + 1] = 'JUSTID'
  redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, unpack(own))
end
for _, id in ipairs(gone) do
  lost[#lost + 1] = id
end
return lost
`;
