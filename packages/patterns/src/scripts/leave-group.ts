import { OWN_ENTRIES } from './own-entries.js';

export const LEAVE_GROUP = `
-- A consumer that stops gives back what it did not finish, and takes its name out of the group when it has nothing
-- pending left. XGROUP DELCONSUMER deletes pending entries along with the consumer, so look and delete are one step.
--
-- Given back means: idle since 1970, so that the next one who looks takes the entry over at once. The attempts made so
-- far are put on record; for its next owner an entry that is pending without a record was begun once.
--
-- KEYS[1] stream     KEYS[2] recorded attempts of the group
-- ARGV[1] group      ARGV[2] consumer      ARGV[3] seconds the records are kept
-- ARGV[4...] pairs of entry id and its record; '' leaves the record as it is
--
-- Returns how many entries were given back.
${OWN_ENTRIES}
local records = {}
for index = 4, #ARGV, 2 do
  records[ARGV[index]] = ARGV[index + 1]
end
local own = sorted(4, 2)
for _, id in ipairs(own) do
  redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 0, id, 'TIME', 0, 'JUSTID')
  if records[id] == '0' then
    redis.call('HDEL', KEYS[2], id)
  elseif records[id] ~= '' then
    redis.call('HSET', KEYS[2], id, records[id])
  end
end
if #own > 0 then
  redis.call('EXPIRE', KEYS[2], ARGV[3])
end
if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) == 0 then
  redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
end
return #own
`;
