export const FINISH = `
-- Removes handled messages from the processing list of a consumer, and what is on record about them.
--
-- The oldest lie at the right end and are handled first, so each search ends where it begins. What was given back to
-- the queue meanwhile is not found: it belongs to whoever takes it next, and this consumer comes too late.
--
-- KEYS[1] processing list    KEYS[2] recorded attempts
-- ARGV[1] number of messages    then the messages    then the digests of those that have a record
--
-- Returns how many were there.
local count = tonumber(ARGV[1])
local removed = 0
for index = 2, count + 1 do
  removed = removed + redis.call('LREM', KEYS[1], -1, ARGV[index])
end
for index = count + 2, #ARGV do
  redis.call('HDEL', KEYS[2], ARGV[index])
end
return removed
`;
